/** The fate of one attempt on its way to the bank and back. */
import { createHash } from 'node:crypto';
import type { Chance } from '../chance.ts';
import { json, text, type BankResponse } from '../bank/responses.ts';

/**
 * `before` and `after`: the fault occurs before or after the bank has executed the request.
 * `doubled`: a device on the network sends the request twice, and the second response returns.
 */
export interface Fate {
  readonly kind:
    | 'answered'
    | 'no_connection'
    | 'server_error'
    | 'reset'
    | 'cut'
    | 'silence'
    | 'html'
    | 'foreign_ids'
    | 'token_refused'
    | 'token_expired'
    | 'rate_limited'
    | 'doubled';
  readonly when: 'before' | 'after';
  /** The connection is still being opened: no byte of the request has left. */
  readonly isConnecting: boolean;
}

const kinds = [
  'no_connection',
  'server_error',
  'server_error',
  'reset',
  'reset',
  'cut',
  'silence',
  'silence',
  'html',
  'foreign_ids',
  'token_refused',
  'token_expired',
  'rate_limited',
  'doubled',
] as const satisfies Fate['kind'][];

/** The faults that prevent the bank from executing the request, except those of a token. */
const refusals: readonly Fate['kind'][] = [
  'no_connection',
  'token_refused',
  'token_expired',
  'rate_limited',
];

/**
 * Draws the fate of an attempt.
 * @param doubtfulTokens how likely a 401 answers a request that was executed.
 */
export function drawFate(
  chance: Chance,
  { faults, doubtfulTokens }: { readonly faults: number; readonly doubtfulTokens: number },
): Fate {
  if (!chance.happens(faults)) {
    return { kind: 'answered', when: 'after', isConnecting: chance.happens(faults / 2) };
  }
  const kind = chance.pick(kinds);
  const isAfter = kind === 'doubled' || kind === 'cut';
  const isOfToken = kind === 'token_refused' || kind === 'token_expired';
  const isExecuted = isOfToken && chance.happens(doubtfulTokens);
  const isRefused = refusals.includes(kind) && !isExecuted;
  const isBefore = isRefused || (!isAfter && !isExecuted && chance.happens(0.4));
  return { kind, when: isBefore ? 'before' : 'after', isConnecting: kind === 'no_connection' };
}

/** The response that replaces the bank's response; null: the bank's response returns, or none. */
export function drawReplacement({ kind }: Fate, chance: Chance): BankResponse | null {
  switch (kind) {
    case 'server_error':
      return { ...chance.pick(serverErrors), summary: 'server_error' };
    case 'html':
      return { ...text(200, '<html><body>OK</body></html>'), summary: 'html' };
    case 'token_refused':
    case 'token_expired':
      return { ...json(401, { message: 'Unauthorized' }), summary: kind };
    case 'rate_limited':
      return { ...json(429, { message: 'Too Many Requests' }), summary: kind };
    default:
      return null;
  }
}

const unclear = 'Não foi possível determinar o resultado da interação';

const serverErrors = [
  json(500, { message: 'Internal Server Error' }),
  json(500, { code: 'E500', message: unclear }),
  json(503, {}),
  text(502, '<html><h1>502 Bad Gateway</h1></html>'),
  text(504, ''),
  json(408, { message: 'Request Timeout' }),
] as const;

/**
 * Replaces the ids in a response by foreign ones. Two responses get different ids, because a
 * look-up and a statement that agree on an id are evidence.
 */
export function withForeignIds(response: BankResponse): BankResponse {
  const digest = (own: string): string =>
    createHash('sha256').update(response.body).update(own).digest('hex').slice(0, 12);
  const body = response.body
    .toString('utf8')
    .replaceAll(
      /"(endToEnd|endToEndId|clientRequestId|clientCode|disputeId)":"([^"]*)"/g,
      (_, name: string, own: string) => `"${name}":"foreign-${digest(own)}"`,
    );
  const bytes = Buffer.from(body, 'utf8');
  const isForeign = body.includes('"foreign-');
  const headers = { ...response.headers, 'content-length': String(bytes.length) };
  return {
    ...response,
    headers,
    body: bytes,
    ...(isForeign && { proves: 'nothing', disputeState: null }),
  };
}
