/** A form for values that the console itself uses, such as the options of a command. */
import { useState } from 'react';
import type { Field } from '../state/contract.ts';
import * as forms from '../state/form.ts';
import { otherFaults } from '../state/notice.ts';
import type { Form } from './use-form.ts';

export interface LocalFormOptions {
  readonly fields: readonly Field[];
  /** The values at first, by the name of the field. */
  readonly initial: Readonly<Record<string, string>>;
  /** Receives the values once every required one is there. */
  onSubmit(values: Readonly<Record<string, string>>): void;
}

export function useLocalForm(
  options: LocalFormOptions,
): Pick<Form, 'fields' | 'state' | 'notice' | 'press' | 'fillIn'> {
  const { fields, initial, onSubmit } = options;
  const [state, setState] = useState(() => forms.fillIn(forms.newForm(fields), initial));
  const submit = (): void => {
    const faults = forms.blockingFaults(state, fields);
    setState((now) => forms.refuse(now, fields, faults));
    if (Object.keys(faults).length > 0) return;
    const values = fields.map((field) => [field.name, forms.fieldValue(state, field).trim()]);
    onSubmit(Object.fromEntries(values) as Readonly<Record<string, string>>);
  };
  return {
    fields,
    state,
    notice: otherFaults(state.faults, fields),
    press(pressed) {
      if (forms.isSubmit(state, pressed)) {
        submit();
        return true;
      }
      setState((now) => forms.pressForm(now, fields, pressed));
      return forms.pressForm(state, fields, pressed) !== state;
    },
    fillIn: (values) => setState((now) => forms.fillIn(now, values(now))),
  };
}
