/** Scenes of the transactions that an event may concern, and of what is read about each. */
import type { Statement } from '../../../src/db/database.ts';
import { repeatNotes } from '../../../src/domain/pix.ts';
import { storeWebhookEvent } from '../../../src/settlement/event-repository.ts';
import { findCandidates } from '../../../src/ledger/transaction-repository.ts';
import { moment, type Scene, type Stage } from './stage.ts';

const { made, now, later } = moment;

type Columns = Readonly<Record<string, unknown>>;

const endToEnd = 'E00000000202605241200000000000001';
const otherEndToEnd = 'E00000000202605241200000000000002';
const key = 'key';
const txid = 'a'.repeat(26);
const hash = Buffer.from('hash');
const freeId = '00000000-0000-4000-8000-00000000ffff';

const charge = { operation: 'CHARGE', transaction_identification: txid };
const unknown = { phase: 'UNKNOWN', end_to_end: endToEnd, idempotency_key: key };
const other = { phase: 'UNKNOWN', end_to_end: otherEndToEnd };
const done = { ...unknown, phase: 'SETTLED', status: 'COMPLETED', settled_at: now };

const minutesAfter = (minutes: number): Date => new Date(made.getTime() + minutes * 60_000);
const loss = { lost_since: minutesAfter(10), ended_at: later };

/** A stored transaction, and the rows that belong to it. */
interface Candidate extends Columns {
  /** An id of the provider in its timeline. */
  readonly reported?: string;
  /** The note of its row PAYING. */
  readonly note?: string;
  /** Further rows of its timeline. */
  readonly timeline?: readonly Columns[];
  /** The account of its owner. */
  readonly account?: Columns;
  /** A pause of all sends. */
  readonly pause?: Columns;
}

async function insertCandidate(
  { row, found }: Stage,
  { reported, note, timeline = [], account = {}, pause, ...columns }: Candidate,
): Promise<void> {
  if (pause) await row('pix_pauses', pause);
  await row('accounts', account);
  const [userId] = await found('select max(user_id) as user_id from accounts');
  const id = await row('pix_transactions', { ...columns, user_id: Number(userId) });
  const steps: readonly Columns[] = [
    ...(reported ? [{ provider_txid: reported }] : []),
    ...(note ? [{ phase: 'PAYING', note }] : []),
    ...timeline,
  ];
  for (const one of steps) await row('pix_timeline', { transaction_id: id, ...one });
}

/** Another user's transaction: what belongs to it must not be read for another one. */
const stranger: Candidate = {
  account: { agency: '8', account_number: '9' },
  timeline: [
    { phase: 'PAYING', attempt: 1, note: repeatNotes.unknown },
    { phase: 'ACCEPTED', provider_txid: 'bank-2' },
    { phase: 'SETTLED', provider_txid: 'bank-9' },
  ],
};

const chooseCandidates = (
  statement: Statement,
  before: readonly unknown[],
  [title, rows, ids]: readonly [string, readonly Candidate[], readonly unknown[]],
): Scene => ({
  statement,
  title,
  async play(stage) {
    for (const one of [stranger, ...rows]) await insertCandidate(stage, one);
    const found = await stage.fetchRows(...before, ...ids);
    return found.map((one) => [
      one['endToEnd'],
      one['providerTxid'],
      one['repeated'],
      one['owner'],
      one['paidBy'],
    ]);
  },
});

/** Two scenes: the statement that finds candidates, and the one that also stores the event. */
const candidates = (...scene: Parameters<typeof chooseCandidates>[2]): readonly Scene[] => {
  const before = [freeId, hash, Buffer.from('{}'), now, later, null];
  return [
    chooseCandidates(findCandidates, [], scene),
    chooseCandidates(storeWebhookEvent, before, scene),
  ];
};

const owner = { agency: '1', account_number: '2', document: '93541134780' };
const paidStep = { phase: 'SETTLED', provider_txid: 'bank-2' };

export const candidateScenes: readonly Scene[] = [
  ...candidates('by the end-to-end id', [unknown, other], [endToEnd, null, null, null]),
  ...candidates('by the key', [unknown, other], [null, key, null, null]),
  ...candidates(
    'the key does not refer to a charge',
    [{ ...charge, phase: 'ACCEPTED', idempotency_key: key }],
    [null, key, null, null],
  ),
  ...candidates(
    'by a reported id',
    [{ ...unknown, reported: 'bank-1' }, other],
    [null, null, null, 'bank-1'],
  ),
  ...candidates(
    'an id reported for another send names that send',
    [unknown, { ...other, reported: 'bank-1' }],
    [endToEnd, null, null, 'bank-1'],
  ),
  ...candidates(
    'a reported id that is not named',
    [{ ...unknown, reported: 'bank-2' }],
    [endToEnd, null, null, 'bank-1'],
  ),
  ...candidates(
    'a send beside a repeated one',
    [unknown, { ...other, note: 'after_unknown' }],
    [endToEnd, null, null, null],
  ),
  ...candidates(
    'a send that was repeated after a 401',
    [
      {
        ...unknown,
        timeline: [{ phase: 'PAYING', attempt: 2, note: repeatNotes.unknown, http_status: 401 }],
      },
    ],
    [endToEnd, null, null, null],
  ),
  ...candidates(
    'a send whose attempt was not sent before',
    [{ ...unknown, note: 'after_not_sent' }],
    [endToEnd, null, null, null],
  ),
  ...candidates(
    'a repeated send',
    [{ ...unknown, note: 'after_unknown' }],
    [endToEnd, null, null, null],
  ),
  ...candidates(
    'a repeated send that has ended',
    [{ ...done, note: 'after_unknown' }],
    [endToEnd, null, null, null],
  ),
  ...candidates(
    'a send around a loss',
    [{ ...unknown, pause: loss }],
    [endToEnd, null, null, null],
  ),
  ...candidates(
    'a send in a loss that is open',
    [{ ...unknown, pause: { ...loss, ended_at: null, ended_by: null } }],
    [endToEnd, null, null, null],
  ),
  ...candidates(
    'a send long before a loss',
    [{ ...unknown, pause: { lost_since: minutesAfter(11), ended_at: later } }],
    [endToEnd, null, null, null],
  ),
  ...candidates(
    'a send soon after a loss',
    [{ ...unknown, created_at: minutesAfter(10), pause: { ...loss, ended_at: made } }],
    [endToEnd, null, null, null],
  ),
  ...candidates(
    'a send long after a loss',
    [{ ...unknown, created_at: minutesAfter(11), pause: { ...loss, ended_at: made } }],
    [endToEnd, null, null, null],
  ),
  ...candidates('a send at a pause', [{ ...unknown, pause: {} }], [endToEnd, null, null, null]),
  ...candidates(
    'a charge around a loss',
    [{ ...charge, phase: 'ACCEPTED', pause: loss }],
    [null, null, txid, null],
  ),
  ...candidates(
    'an open charge has the account of its owner',
    [{ ...charge, phase: 'ACCEPTED', account: owner, timeline: [paidStep] }],
    [null, null, txid, null],
  ),
  ...candidates(
    'a paid charge has the step that completed it',
    [
      {
        ...charge,
        ...done,
        timeline: [{ ...paidStep, phase: 'ACCEPTED', provider_txid: 'bank-1' }, paidStep],
      },
    ],
    [null, null, txid, null],
  ),
  ...candidates(
    'a failed charge has no step that completed it',
    [{ ...charge, ...done, status: 'FAILED', timeline: [paidStep] }],
    [null, null, txid, null],
  ),
  ...candidates(
    'a send has neither an owner nor a step that completed it',
    [{ ...done, account: owner, timeline: [paidStep] }],
    [endToEnd, null, null, null],
  ),
];
