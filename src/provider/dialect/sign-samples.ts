/** The samples of signs.yaml: messages with the signs that are expected of them. */
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../wire-reading.ts';
import type { Dialects } from './dialects.ts';

/** A message, received on 2026-05-24 at 15:30 UTC, and its signs. */
interface SignSample {
  readonly name: string;
  readonly message: unknown;
  /** Why it is not about a payment that is made now; null: nothing says so. */
  readonly foreign: string | null;
  /** Whether it says that a payment was accepted or made. */
  readonly success: boolean;
  /** Whether it says that a request has failed. */
  readonly failure: boolean;
}

const receivedAt = new Date('2026-05-24T15:30:00Z');

/** @returns the faults, with the name of the sample. */
export function signSampleFaults(
  { signs, completedWords }: Pick<Dialects, 'signs' | 'completedWords'>,
  text: string,
): string[] {
  const samples: unknown = JSON.parse(text);
  if (!Array.isArray(samples) || !samples.every(isSample))
    return ['signs: its samples are no list'];
  return samples.flatMap(({ name, message, ...expected }) => {
    const found = {
      foreign: signs.findForeign(message, receivedAt),
      success: signs.saysSuccess(message, completedWords),
      failure: signs.saysFailure([message]),
    };
    const fault = `signs: the sample ${name} has ${JSON.stringify(found)}`;
    return isDeepStrictEqual(found, expected) ? [] : [fault];
  });
}

function isSample(value: unknown): value is SignSample {
  return isObject(value) && typeof value['name'] === 'string' && 'message' in value;
}
