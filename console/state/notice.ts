/** The one or two lines above the key hints: progress, an error, or a question. */
import type { Call } from '../hooks/use-call.ts';
import type { Field } from './contract.ts';
import type { Faults } from './form.ts';
import { slowAfterSeconds } from './outcomes.ts';

export interface Notice {
  readonly kind: 'busy' | 'error' | 'success' | 'warning';
  readonly text: string;
  /** What a person should know when it takes long. */
  readonly slow?: string;
}

/** A notice of work under way, with how long it has taken. */
export function withElapsed(notice: Notice, seconds: number): Notice {
  if (notice.kind !== 'busy' || seconds === 0) return notice;
  const slow = notice.slow !== undefined && seconds >= slowAfterSeconds ? `. ${notice.slow}` : '';
  return { ...notice, text: `${notice.text} (${seconds} s)${slow}` };
}

export function failure(text: string | false | null | undefined): Notice | null {
  return text ? { kind: 'error', text } : null;
}

export function success(text: string | false | null | undefined): Notice | null {
  return text ? { kind: 'success', text } : null;
}

/** A question: `y` confirms, and every other key declines. */
export function question(text: string | null | undefined): Notice | null {
  return text ? { kind: 'warning', text: `${text} y: yes; any other key: no.` } : null;
}

/** The state of a call that may change something: a person can give it up. */
export function writing(
  call: Pick<Call<unknown>, 'isBusy' | 'failure'>,
  doing = 'Waiting for the service',
  slow?: string,
): Notice | null {
  if (call.isBusy) return { kind: 'busy', text: `${doing} … esc gives up`, ...(slow && { slow }) };
  return failure(call.failure);
}

/** The state of a call that only reads: esc leaves the screen, as everywhere. */
export function reading(
  call: Pick<Call<unknown>, 'isBusy' | 'failure'>,
  doing = 'Waiting for the service',
): Notice | null {
  return call.isBusy ? { kind: 'busy', text: `${doing} …` } : failure(call.failure);
}

/** The faults that belong to no visible field. */
export function otherFaults(faults: Faults, fields: readonly Field[]): Notice | null {
  const rest = Object.entries(faults).filter(([name]) => !fields.some((one) => one.name === name));
  return failure(rest.map(([name, text]) => (name ? `${name}: ${text}` : text)).join(' '));
}
