/** The line or two above the keys: what happens, what went wrong, what is asked. */
import type { Faults, Field } from './form.ts';
import type { Tone } from './lines.ts';

export interface Notice {
  readonly kind: 'busy' | 'bad' | 'good' | 'ask' | 'plain';
  readonly text: string;
}

const tones = {
  busy: 'plain',
  bad: 'bad',
  good: 'good',
  ask: 'doubtful',
  plain: 'plain',
} as const satisfies Record<Notice['kind'], Tone>;

/** The tone of a notice. */
export function noticeTone({ kind }: Notice): Tone {
  return tones[kind];
}

export function bad(text: string | null | undefined): Notice | null {
  return text ? { kind: 'bad', text } : null;
}

export function good(text: string | null | undefined): Notice | null {
  return text ? { kind: 'good', text } : null;
}

/** A question that `y` says yes to, and every other key no. */
export function ask(question: string | null | undefined): Notice | null {
  return question ? { kind: 'ask', text: `${question} y: yes; any other key: no.` } : null;
}

/** How a call that may change something stands: under way, or why nothing came of it. */
export function ofCall(
  call: { readonly isBusy: boolean; readonly failure: string | null },
  doing = 'Waiting for the service',
): Notice | null {
  if (call.isBusy) return { kind: 'busy', text: `${doing} … esc gives up` };
  return bad(call.failure);
}

/** How a read stands. Nobody has to give it up: esc leads back, as it does everywhere. */
export function ofRead(
  call: { readonly isBusy: boolean; readonly failure: string | null },
  doing = 'Waiting for the service',
): Notice | null {
  return call.isBusy ? { kind: 'busy', text: `${doing} …` } : bad(call.failure);
}

/** What is wrong and belongs to no field that is shown. */
export function ofFaults(faults: Faults, fields: readonly Field[]): Notice | null {
  const loose = Object.entries(faults).filter(([name]) => !fields.some((one) => one.name === name));
  return bad(loose.map(([name, text]) => (name === '' ? text : `${name}: ${text}`)).join(' '));
}
