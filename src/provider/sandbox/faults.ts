/** Applies the effects of a call. */
import type { Delivery } from './delivery.ts';
import type { Effect, effectKinds, EffectName } from './fault-language.ts';
import { htmlPage, problem, type SandboxAnswer, type Silence } from './answers.ts';

type NameWhen<When> = {
  [Name in EffectName]: (typeof effectKinds)[Name]['when'] extends When ? Name : never;
}[EffectName];

const nothing: Delivery = { how: 'nothing' };

const obstructions: Readonly<Record<NameWhen<'before'>, (value: number) => Delivery>> = {
  '401': () => whole(problem(401, { code: 'InvalidToken' })),
  '429': (retryAfterMs) => whole(problem(429, { code: 'RateLimited', retryAfterMs })),
  redirect: () => whole({ status: 307, headers: { location: '/elsewhere' }, body: {} }),
  '5xx-before': (status) => whole(problem(status)),
  'reset-before': () => ({ how: 'reset' }),
  'hang-before': () => nothing,
};

type Distortion = (answer: SandboxAnswer, value: number) => Delivery;

const distortions: Readonly<Record<NameWhen<'after'>, Distortion>> = {
  '5xx-after': (_, status) => whole(problem(status)),
  'reset-after': () => ({ how: 'reset' }),
  'reset-amid': (answer) => ({ how: 'reset-amid', answer }),
  hang: () => nothing,
  html: () => whole(htmlPage),
  truncated: (answer) => ({ how: 'truncated', answer }),
  'foreign-ids': (answer) => whole({ ...answer, body: withForeignIds(answer.body) }),
  drip: (answer, everyMs) => ({ how: 'drip', answer, everyMs }),
  huge: (_, bytes) => ({ how: 'huge', bytes }),
};

/** The delay of the call, in milliseconds. */
export function latencyMsOf(effects: readonly Effect[]): number {
  return effects
    .filter(({ name }) => name === 'latency')
    .reduce((sum, { value }) => sum + value, 0);
}

/** The answer in place of executing the call; null when the call is executed. */
export function obstruction(effects: readonly Effect[]): Delivery | null {
  const { name, value } = wrongWith(effects) ?? {};
  if (name === undefined || !hasOwn(obstructions, name)) return null;
  return obstructions[name](value ?? 0);
}

/** The answer to a call that was executed, as the effects change it. */
export function distortion(effects: readonly Effect[], answer: SandboxAnswer | Silence): Delivery {
  if (answer === 'hang') return nothing;
  const { name, value } = wrongWith(effects) ?? {};
  if (name === undefined || !hasOwn(distortions, name)) return whole(answer);
  return distortions[name](answer, value ?? 0);
}

/** The first effect that is more than a delay. */
function wrongWith(effects: readonly Effect[]): Effect | undefined {
  return effects.find(({ name }) => name !== 'latency');
}

function hasOwn<Name extends string>(
  table: Readonly<Record<Name, unknown>>,
  name: string,
): name is Name {
  return Object.hasOwn(table, name);
}

function whole(answer: SandboxAnswer): Delivery {
  return { how: 'whole', answer };
}

const foreignIds = {
  endToEnd: 'E00000000202001010000foreign0000',
  clientRequestId: 'foreign-request',
  transactionIdentification: 'foreign0transaction0000000',
};

function withForeignIds(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body;
  const replaced = Object.entries(foreignIds).filter(([name]) => name in body);
  return { ...body, ...Object.fromEntries(replaced) };
}
