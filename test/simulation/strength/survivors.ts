/**
 * Why a mutant of the service is not noticed by the simulation: it is equivalent, the simulation
 * draws nothing in which it differs, or a test notices it. Without a reason it is an open question.
 */
const groups: readonly (readonly [reason: string, ...names: string[]])[] = [
  [
    'equivalent: a call whose row is new finds no stored one, as its snapshot is older',
    'pix-reserve-send: without not call.is_new',
    'pix-reserve: without not call.is_new',
  ],
  [
    'equivalent: a signed token names the user of its session, and no other user',
    'pix-reserve-send: without s.user_id = asked.user_id',
  ],
  [
    'not drawn: simulated logins have no end; users and their accounts have all that they need',
    'pix-reserve-send: without s.token_expires_at is null or s.token_expires_at > asked.now',
    "pix-reserve-send: without u.status = 'ACTIVE'",
    'pix-unconfirmed: without s.token_expires_at is null or s.token_expires_at > $1',
  ],
  [
    'tested: send-pix-refusals.test.ts, 422 with errors.account when the account lacks its part',
    "pix-reserve-send: without agency <> ''",
    "pix-reserve-send: without account_number <> ''",
    "pix-reserve-send: without coalesce(account_document, user_document) <> ''",
  ],
  [
    'tested: account-status.test.ts, a refused send says that nothing is known of its key',
    "pix-reserve-send: without account_status = 'ACTIVE'",
  ],
  [
    'equivalent: no statement of this release stores RESOLVED, a send passes through it',
    'pix-step: RESERVED or RESOLVED without RESOLVED',
    'pix-step: PAYING or UNKNOWN and RESOLVED',
    'pix-take-over: RESERVED or RESOLVED without RESOLVED',
    'webhook-store: ACCEPTED or UNKNOWN and RESOLVED',
    'webhook-store: PAYING or ACCEPTED or UNKNOWN and RESOLVED',
    'pix-touch-unconfirmed: UNKNOWN or ACCEPTED and RESOLVED',
    'a move leaves RESERVED or RESOLVED without RESOLVED',
    'a move leaves PAYING or UNKNOWN and RESOLVED',
    'a move leaves ACCEPTED or UNKNOWN and RESOLVED',
    'a move leaves PAYING or ACCEPTED or UNKNOWN and RESOLVED',
    'a move leaves RESERVED or PAYING or ACCEPTED or UNKNOWN and RESOLVED',
  ],
  [
    'equivalent: a send in RESERVED has no end-to-end id, by which the event would find it',
    'webhook-store: ACCEPTED or UNKNOWN and RESERVED',
    'webhook-store: PAYING or ACCEPTED or UNKNOWN and RESERVED',
  ],
  [
    'equivalent: the service reads the phase and asks for this move in the listed phases alone',
    'a move leaves ACCEPTED or UNKNOWN and RESERVED',
    'a move leaves PAYING or ACCEPTED or UNKNOWN and RESERVED',
  ],
  [
    'equivalent: only a transaction in a final phase is settled, and no final phase is listed',
    'pix-step: without t.settled_at is null',
    'pix-repeat: without t.settled_at is null',
    'pix-move: without t.settled_at is null',
    'pix-take-over: without settled_at is null',
    'webhook-store: without t.settled_at is null',
  ],
  [
    'tested: notifications.test.ts, the ends of a group are told at once by their ids',
    'pix-move: never when count(*) <= 200',
    'webhook-store: never when count(*) <= 200',
  ],
  [
    'equivalent: the note of a repeated attempt stands in rows of PAYING alone',
    "webhook-store: without attempt.phase = 'PAYING'",
    "pix-candidates: without attempt.phase = 'PAYING'",
  ],
  [
    'equivalent: a send comes to PAYING from RESERVED alone, so RESOLVED is always noted',
    "pix-step: without notes_resolved or entry.phase <> 'RESOLVED'",
  ],
];

/** The reason of each mutant that survives. */
export const reasons: ReadonlyMap<string, string> = new Map(
  groups.flatMap(([reason, ...names]) => names.map((name) => [name, reason] as const)),
);
