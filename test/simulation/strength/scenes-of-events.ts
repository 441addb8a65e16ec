/** Scenes of the statements that store events, and that settle them. */
import {
  finishWebhookEvent,
  parkWebhookEvent,
  storeWebhookEvent,
} from '../../../src/settlement/event-repository.ts';
import { moment, type Scene, type Stage } from './stage.ts';

const { made, earlier, now, later } = moment;

type Columns = Readonly<Record<string, unknown>>;

const endToEnd = 'E00000000202605241200000000000001';
const otherEndToEnd = 'E00000000202605241200000000000002';
const key = 'key';
const hash = Buffer.from('hash');
const noIds = [null, null, null, null];
const freeId = '00000000-0000-4000-8000-00000000ffff';

const unknown = { phase: 'UNKNOWN', end_to_end: endToEnd, idempotency_key: key };
const other = { phase: 'UNKNOWN', end_to_end: otherEndToEnd };
const done = { ...unknown, phase: 'SETTLED', status: 'COMPLETED', settled_at: now };

/** The queue of events: all its rows, as text. */
export const queued = `select due_at::text, waiting_since::text, attempts, waits, failures,
                         last_error, seen
                         from webhook_queue order by event_id`;

async function stored({ found, notifications }: Stage): Promise<readonly unknown[]> {
  return [
    ...(await found(`select status, results is null as bare, processed_at is null as open
                       from webhook_events order by id`)),
    ...(await found(queued)),
    ...(await found('select id_value from webhook_waits')),
    notifications.map(({ length }) => length),
  ];
}

const event = (title: string, failed: string | null, dueAt: Date): Scene => ({
  statement: storeWebhookEvent,
  title,
  async play(stage) {
    const values = [freeId, hash, Buffer.from('{}'), now, dueAt, failed, ...noIds];
    const rows = await stage.fetchRows(...values);
    const results = rows.map((one) => [one['eventId'] === freeId, one['isNew'], one['id']]);
    return [results, ...(await stored(stage))];
  },
});

/** @param inQueue the columns of the event's row in the queue; none: it is not there. */
const again = (title: string, changes: Columns, inQueue?: Columns): Scene => ({
  statement: storeWebhookEvent,
  title,
  async play(stage) {
    const { row, fetchRows } = stage;
    await row('webhook_events');
    const id = await row('webhook_events', { payload_hash: hash, ...changes });
    if (inQueue) await row('webhook_queue', { event_id: id, ...inQueue });
    const rest = [later, endToEnd, ...noIds];
    const rows = await fetchRows(freeId, hash, Buffer.from('{}'), now, ...rest);
    const results = rows.map((one) => [one['eventId'] === id, one['isNew'], one['id']]);
    return [results, ...(await stored(stage))];
  },
});

/** Events of one batch: each is due at once or later, or has the bytes of a stored event. */
const storedTogether: Scene = {
  statement: storeWebhookEvent,
  title: 'events stored at once are each queued as alone, and equal ones once',
  async play(stage) {
    await stage.row('webhook_events', { payload_hash: hash, status: 'parked' });
    const calls = ['later', 'due', 'again', 'later', 'same'];
    // Behind the id of every row, so that the order is the same in each run.
    const ids = calls.map((_, at) => `ffffffff-0000-4000-8000-00000000000${at}`);
    const own = calls.map((call, at) => Buffer.from(call === 'same' ? '0' : String(at)));
    const hashes = own.map((bytes, at) => (calls[at] === 'again' ? hash : bytes));
    const each = <Value>(value: Value): Value[] => calls.map(() => value);
    const rows = await stage.fetchBatch(
      ids,
      hashes,
      hashes,
      each(now),
      calls.map((call) => (call === 'due' ? now : later)),
      ['E-1', ...each(null).slice(1)],
      ...noIds.map(each),
    );
    const results = rows.map((one) => [
      one['ordinal'],
      one['isNew'],
      ids.indexOf(String(one['eventId'])),
    ]);
    return [results, ...(await stored(stage))];
  },
};

/** One attempt at an event, and what is in the queue. */
interface Finished {
  readonly attempted?: Date | null;
  /** The event's row in the queue; null: there is none. */
  readonly inQueue?: Columns | null;
  /** When the next attempt is due; null: the event is settled. */
  readonly dueAt: Date | null;
  /** The time in the queue with which the attempt has begun; null: a replay. */
  readonly begunAt?: Date | null;
}

const tired = { due_at: now, attempts: 3, waits: 4, failures: 2, last_error: 'E' };

const attempt = (title: string, how: Finished): Scene => ({
  statement: how.dueAt ? parkWebhookEvent : finishWebhookEvent,
  title,
  async play(stage) {
    const { attempted = null, inQueue = tired, dueAt, begunAt = now } = how;
    const { row, fetchRows, found } = stage;
    const ids: unknown[] = [];
    for (const name of ['first', 'second']) {
      const id = await row('webhook_events');
      for (const value of [name, `${name} again`]) {
        await row('webhook_waits', { event_id: id, id_value: value });
      }
      ids.push(id);
    }
    if (inQueue) await row('webhook_queue', { event_id: ids[0], ...inQueue });
    await row('webhook_queue', { event_id: ids[1], ...tired });
    const waits = JSON.stringify(['first', 'third']);
    const times = [begunAt, attempted, now];
    const answered = await (dueAt
      ? fetchRows(ids[0], 'parked', '[]', ...times, waits, dueAt, earlier)
      : fetchRows(ids[0], 'ignored', '[]', ...times, now, '[]'));
    const waiting = await found('select id_value from webhook_waits order by id_value');
    const results = answered.map((one) => [one['isFinished'], one['isQueued']]);
    return [results, ...(await found(queued)), ...waiting];
  },
});

const finish = (title: string, how: Omit<Finished, 'dueAt'>): Scene =>
  attempt(title, { ...how, dueAt: null });

const park = (title: string, { dueAt = later, ...how }: Partial<Finished>): Scene =>
  attempt(title, { ...how, dueAt });

/** Three calls in one batch, of which the first and the last are in the queue. */
const together = (statement: typeof finishWebhookEvent | typeof parkWebhookEvent): Scene => ({
  statement,
  title: 'events finished at once each leave the queue, or stay, as alone',
  async play({ row, fetchBatch, found }) {
    const ids: unknown[] = [];
    for (const inQueue of [tired, null, tired]) {
      const id = await row('webhook_events');
      ids.push(id);
      if (inQueue) await row('webhook_queue', { event_id: id, ...inQueue });
    }
    const each = <Value>(value: Value): Value[] => ids.map(() => value);
    const times = [now, later, now];
    const attempts = [each('[]'), [now, now, earlier], each(null), times];
    const rows = await (statement === parkWebhookEvent
      ? fetchBatch(
          ids,
          each('parked'),
          ...attempts,
          each('["id"]'),
          [later, now, later],
          [made, now, later],
        )
      : fetchBatch(ids, ['processed', 'ignored', 'ignored'], ...attempts, times, each('[]')));
    return [
      rows.map((one) => [one['ordinal'], one['isFinished'], one['isQueued']]),
      ...(await found('select status from webhook_events order by id')),
      ...(await found(queued)),
    ];
  },
});

/** The open transactions of two events, and the moves of each event. */
interface Moved {
  readonly open: readonly Columns[];
  /** For each event: the transactions that it moves, and their changes. */
  readonly moves: readonly (readonly [place: number, changes?: Columns])[][];
  readonly attempted?: Date | null;
}

const settle = (title: string, { open, moves, attempted = null }: Moved): Scene => ({
  statement: finishWebhookEvent,
  title,
  async play({ row, fetchBatch, found, notifications }) {
    const transactions: unknown[] = [];
    for (const columns of open) transactions.push(await row('pix_transactions', columns));
    const ids: unknown[] = [];
    for (const _ of moves) {
      const event_id = await row('webhook_events');
      await row('webhook_queue', { event_id, due_at: later });
      ids.push(event_id);
    }
    const each = <Value>(value: Value): Value[] => moves.map(() => value);
    const times = moves.map((_, at) => (at ? later : now));
    const moved = moves.map((ofEvent) =>
      JSON.stringify(
        ofEvent.map(([place, changes]) => ({
          id: transactions[place],
          from_phases: '{UNKNOWN}',
          phase: 'SETTLED',
          status: 'COMPLETED',
          provider_txid: 'bank-1',
          end_to_end: null,
          timeline: [{ phase: 'SETTLED', note: 'COMPLETED' }, { phase: 'SETTLED' }],
          ...changes,
        })),
      ),
    );
    const attempts = [each('processed'), each('[]'), each(later), each(attempted)];
    const rows = await fetchBatch(ids, ...attempts, times, times, moved);
    const answered = rows.map((one) => [one['isFinished'], typeof one['movedIds']]);
    return [
      answered,
      ...(await found(`select phase, status, end_to_end, outcome, provider_txid, settled_at is null,
                              updated_at = '2026-05-24 12:01Z' as first
                         from pix_transactions order by end_to_end`)),
      ...(await found('select phase, note, provider_txid from pix_timeline order by id')),
      ...(await found('select status from webhook_events order by id')),
      ...(await found(queued)),
      notifications.map(({ length }) => length),
    ];
  },
});

export const eventScenes: readonly Scene[] = [
  event('an event that is due at once wakes the queues', null, now),
  event('an event that its process settles is due later, and wakes nobody', null, later),
  event('an event of a failed send waits for the send', endToEnd, now),
  again('a repeated event is queued again, and does not wait for its send again', {}),
  again('a repeated event that is in the queue stays as it is there', {}, tired),
  ...['parked', 'orphaned', 'processed', 'ignored', 'anomaly'].map((status) =>
    again(`a repeated event that is ${status} is queued again, or is not`, {
      status,
      processed_at: now,
      results: '[]',
    }),
  ),
  again('a repeated anomaly with an orphaned item is queued again', {
    status: 'anomaly',
    processed_at: now,
    results: '[{"result": "anomaly"}, {"result": "orphaned"}]',
  }),
  storedTogether,
  finish('a settled event leaves the queue', {}),
  finish('a settled event that was woken meanwhile stays in the queue', { begunAt: later }),
  finish('a settled event at which another attempt has begun stays in the queue', {
    begunAt: earlier,
  }),
  finish('a replay that settles an event removes it from the queue', { begunAt: null }),
  finish('a settled event that is not in the queue does not get there', { inQueue: null }),
  finish('an event that another process has finished is not finished again', {
    attempted: earlier,
  }),
  park('an event that another process has finished is not put off', { attempted: earlier }),
  park('a waiting event is put off', {}),
  park('a waiting event that was woken meanwhile keeps the earlier time', { begunAt: later }),
  park('a waiting event at which another attempt has begun is due at the earlier time', {
    inQueue: { ...tired, due_at: later },
    dueAt: now,
    begunAt: earlier,
  }),
  park('a replay of a waiting event does not put it off', { begunAt: null }),
  park('a replay of a waiting event that is due later brings it forward', {
    inQueue: { ...tired, due_at: later },
    dueAt: now,
    begunAt: null,
  }),
  park('a waiting event that a replay has put into the queue waits since the replay', {
    inQueue: { ...tired, waiting_since: now },
  }),
  park('a waiting event that is not in the queue gets there', { inQueue: null }),
  park('a replayed event that waits and is not in the queue gets there', {
    inQueue: null,
    begunAt: null,
  }),
  settle('the transactions of an event are moved when it is finished', {
    open: [unknown, { ...other, provider_txid: 'bank-0' }],
    moves: [[[0], [1]]],
  }),
  settle('an event whose transaction is in another phase is not finished, and moves the others', {
    open: [{ ...unknown, phase: 'PAYING' }, other],
    moves: [[[0], [1]]],
  }),
  settle('an event whose transaction has another end-to-end id is not finished', {
    open: [unknown],
    moves: [[[0, { end_to_end: otherEndToEnd }]]],
  }),
  settle('an event whose transaction has ended is not finished', {
    open: [done],
    moves: [[[0, { from_phases: '{SETTLED}' }]]],
  }),
  settle('one of two events that move one transaction is finished', {
    open: [unknown],
    moves: [[[0]], [[0]]],
  }),
  settle('an event whose transaction has changed does not block another event', {
    open: [{ ...unknown, phase: 'PAYING' }, other],
    moves: [[[0]], [[1]]],
  }),
  ...['FAILED', 'COMPLETED'].map((status) =>
    settle(`an event that ends a send as ${status} is finished, unless the payee has it`, {
      open: [{ ...unknown, reached_payee: true }, other],
      moves: [[[0, { status }]], [[1, { status }]]],
    }),
  ),
  settle('a move that does not settle a transaction sends no notification', {
    open: [unknown],
    moves: [[[0, { phase: 'ACCEPTED', status: 'PROCESSING', outcome: 'accepted' }]]],
  }),
  settle('an event that ended in the meantime is not finished', {
    open: [unknown],
    moves: [[[0]]],
    attempted: earlier,
  }),
  together(finishWebhookEvent),
  together(parkWebhookEvent),
];
