/** The idempotency key of a form: it stays, to repeat with, until a new one is asked for. */
import { randomUUID } from 'node:crypto';
import { useEffect } from 'react';
import type { Field } from '../model/form.ts';
import type { FormHandle } from './use-form.ts';

const name = 'Idempotency-Key';

export const keyField: Field = {
  name,
  label: 'Idempotency-Key',
  kind: 'text',
  hint: 'the same key never pays twice; ctrl+n makes a new one',
};

/** Fills the field when the form is first shown. */
export function useKey(form: FormHandle): { renew(): void } {
  const isMissing = form.state.values[name] === undefined || form.state.values[name] === '';
  const renew = (): void => form.fillIn({ [name]: randomUUID() });
  useEffect(() => {
    if (isMissing) renew();
  }, []);
  return { renew };
}

/** Takes the key out of what was typed: it goes into the header. */
export function withKey({ [name]: key, ...values }: Readonly<Record<string, unknown>>) {
  return { values, headers: { [name]: key as string } };
}
