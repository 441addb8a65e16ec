/** How an attempt at a call of the bank goes wrong, and what the service's client makes of it. */
import { ProviderError, type ProviderErrorOptions } from '../../src/provider/outcome.ts';
import type { Chance } from './chance.ts';

/**
 * What becomes of one attempt. `before` and `after` say whether the bank had done what it was asked
 * for by then.
 */
export interface Fate {
  readonly kind:
    | 'answered'
    | 'no_connection'
    | 'server_error'
    | 'reset'
    | 'silence'
    | 'html'
    | 'foreign_ids'
    | 'token_refused'
    | 'token_expired'
    | 'rate_limited';
  readonly when: 'before' | 'after';
  /** The connection is still being made while the request waits: nothing has left then. */
  readonly isConnecting: boolean;
}

export const answered: Fate = { kind: 'answered', when: 'after', isConnecting: false };

const kinds = [
  'no_connection',
  'server_error',
  'server_error',
  'reset',
  'reset',
  'silence',
  'silence',
  'html',
  'foreign_ids',
  'token_refused',
  'token_expired',
  'rate_limited',
] as const satisfies Fate['kind'][];

/** These refuse before the bank looks at what is asked for. */
const refusals: readonly Fate['kind'][] = [
  'no_connection',
  'token_refused',
  'token_expired',
  'rate_limited',
];

export function drawFate(chance: Chance, faults: number): Fate {
  if (!chance.happens(faults)) return { ...answered, isConnecting: chance.happens(faults / 2) };
  const kind = chance.pick(kinds);
  const when = refusals.includes(kind) || chance.happens(0.4) ? 'before' : 'after';
  return { kind, when, isConnecting: kind === 'no_connection' };
}

type Failing = Exclude<Fate['kind'], 'answered' | 'silence' | 'foreign_ids'>;

const unavailable = { outcome: 'unknown', code: 'PROVIDER_UNAVAILABLE', retryable: true } as const;
const refused = { outcome: 'not_sent', code: 'TOKEN_REFUSED', statusClass: '401' } as const;

/** The verdicts of the real client on the same answers over HTTP. */
const verdicts: Readonly<Record<Failing, ProviderErrorOptions>> = {
  no_connection: { ...unavailable, outcome: 'not_sent', statusClass: 'connect' },
  server_error: { ...unavailable, statusClass: '5xx' },
  reset: { ...unavailable, statusClass: 'reset' },
  html: { outcome: 'unknown', code: 'PROVIDER_INVALID_RESPONSE', statusClass: 'invalid' },
  token_refused: refused,
  token_expired: refused,
  rate_limited: { outcome: 'rejected', code: 'PROVIDER_RATE_LIMITED', statusClass: '429' },
};

/** The error that the client reports; null where an answer comes, or none ever does. */
export function verdictOn({ kind }: Fate): ProviderError | null {
  if (kind === 'answered' || kind === 'silence' || kind === 'foreign_ids') return null;
  return new ProviderError(verdicts[kind]);
}

/** What the client reports when its caller waits no longer. */
export function timedOut(outcome: 'not_sent' | 'unknown'): ProviderError {
  return new ProviderError({
    outcome,
    code: 'PROVIDER_TIMEOUT',
    statusClass: 'timeout',
    retryable: true,
  });
}
