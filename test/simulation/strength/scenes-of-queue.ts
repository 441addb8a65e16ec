/** Scenes of the statements of the queue of events. */
import { queueStatements as queue } from '../../../src/settlement/event-queue-repository.ts';
import { nilUuid } from '../../../src/domain/text.ts';
import { queued } from './scenes-of-events.ts';
import { moment, type Scene, type Stage } from './stage.ts';

const { made, earlier, now, later } = moment;

type Columns = Readonly<Record<string, unknown>>;

const rare = new Date(later.getTime() + 3_600_000);
const charge = { operation: 'CHARGE', transaction_identification: 'a'.repeat(26) };
const unknownId = '00000000-0000-4000-8000-00000000ffff';

/** Inserts events of the queue. @returns their ids. */
async function enqueued({ row }: Stage, rows: readonly Columns[]): Promise<unknown[]> {
  const ids: unknown[] = [];
  for (const columns of rows) {
    const event_id = await row('webhook_events');
    ids.push(event_id);
    await row('webhook_queue', { event_id, waiting_since: earlier, ...columns });
  }
  return ids;
}

interface Taken {
  /** The numbers of the events that the caller is settling. */
  readonly underWay?: readonly number[];
  readonly room?: number;
}

const take = (
  title: string,
  rows: readonly Columns[],
  { underWay = [], room = 5 }: Taken = {},
): Scene => ({
  statement: queue.take,
  title,
  async play(stage) {
    const ids = await enqueued(stage, rows);
    const own = underWay.map((place) => ids[place]);
    const taken = await stage.fetchRows(now, later, rare, own, room);
    const inOrder = taken.toSorted(
      (one, other) => ids.indexOf(one['eventId']) - ids.indexOf(other['eventId']),
    );
    const described = inOrder.map((one) => [
      ids.indexOf(one['eventId']),
      one['waits'],
      one['failures'],
      (one['dueAt'] as Date | null)?.toISOString(),
      (one['waitingSince'] as Date | null)?.toISOString(),
      (one['nextDueAt'] as Date | null)?.toISOString(),
      one['someWait'],
    ]);
    return [described, ...(await stage.found(queued))];
  },
});

const failed = { attempts: 2, waits: 4, failures: 3, last_error: 'E' };

const postpone = (title: string, dueAt: Date, error: string | null = 'F'): Scene => ({
  statement: queue.postpone,
  title,
  async play(stage) {
    const [id] = await enqueued(stage, [
      { ...failed, due_at: dueAt },
      { ...failed, due_at: now },
    ]);
    return [await stage.call(id, now, later, error), ...(await stage.found(queued))];
  },
});

/** The second one has been woken meanwhile. */
const postponedTogether: Scene = {
  statement: queue.postpone,
  title: 'events put off at once are each put off as alone',
  async play(stage) {
    const ids = await enqueued(stage, [
      { ...failed, due_at: now },
      { ...failed, due_at: earlier },
      { ...failed, due_at: now },
    ]);
    const begun = [now, now, now];
    const answered = await stage.callBatch(ids, begun, [later, later, rare], ['F', 'G', null]);
    return [answered, ...(await stage.found(queued))];
  },
};

/** What the queue reads of events that wait for ids, where these transactions are stored. */
const waiting = (title: string, ids: readonly string[], stored: readonly Columns[]): Scene => ({
  statement: queue.findWaiting,
  title,
  async play(stage) {
    const events = [
      ...(await enqueued(stage, [{ due_at: later }])),
      ...(await enqueued(stage, [
        { due_at: later, seen: 'then' },
        { due_at: later, seen: '' },
      ])),
    ];
    for (const event_id of events) {
      for (const id_value of ids) await stage.row('webhook_waits', { event_id, id_value });
    }
    const transactions: unknown[] = [];
    for (const { reported, ...columns } of stored) {
      const id = await stage.row('pix_transactions', columns);
      transactions.push(id);
      if (typeof reported !== 'string') continue;
      const step = { transaction_id: id, phase: 'ACCEPTED', provider_txid: reported };
      await stage.row('pix_timeline', step);
    }
    const found = async (after: unknown, limit: number) =>
      (await stage.fetchRows(after, limit)).map((one) => [
        events.indexOf(one['eventId']),
        one['seen'],
        transactions.indexOf(one['id']),
        one['phase'],
        (one['updatedAt'] as Date | null)?.toISOString(),
      ]);
    return [await found(nilUuid, 1), await found(events[1], 5)];
  },
});

const wake = (title: string, inQueue: Columns): Scene => ({
  statement: queue.wake,
  title,
  async play(stage) {
    const waits = { ...failed, attempts: 0, seen: '' };
    const [id] = await enqueued(stage, [
      { ...waits, due_at: later, ...inQueue },
      { ...waits, due_at: later },
    ]);
    return [await stage.call(now, [id, unknownId], ['now', 'x']), ...(await stage.found(queued))];
  },
});

const wokenTogether: Scene = {
  statement: queue.wake,
  title: 'events woken at once are each woken as alone',
  async play(stage) {
    const waits = { due_at: later, seen: '' };
    const ids = await enqueued(stage, [waits, { ...waits, attempts: 1 }, waits]);
    const answered = await stage.call(now, ids, ['a', 'b', 'c']);
    return [answered, ...(await stage.found(queued))];
  },
};

const adopted: Scene = {
  statement: queue.adopt,
  title: 'events that wait and are not in the queue get there',
  async play(stage) {
    const { row, call, found } = stage;
    await enqueued(stage, [{ due_at: later }]);
    const ids = [
      await row('webhook_events'),
      await row('webhook_events', { received_at: earlier }),
    ];
    const [queuedId] = await found('select event_id from webhook_queue');
    for (const event_id of [queuedId, ids[1]]) {
      for (const id_value of ['a', 'b']) await row('webhook_waits', { event_id, id_value });
    }
    return [await call(now), ...(await found(queued))];
  },
};

interface Added {
  readonly event?: Columns;
  /** The event's row in the queue; none: it is not there. */
  readonly inQueue?: Columns;
  readonly waitingSince?: Date;
  readonly isUnknown?: boolean;
}

const add = (title: string, how: Added): Scene => ({
  statement: queue.enqueue,
  title,
  async play(stage) {
    const { event = {}, inQueue, waitingSince = null, isUnknown = false } = how;
    const { row, call, found, notifications } = stage;
    await row('webhook_events');
    const id = await row('webhook_events', { received_at: earlier, ...event });
    if (inQueue) await row('webhook_queue', { event_id: id, ...failed, ...inQueue });
    const answered = await call(isUnknown ? unknownId : id, now, waitingSince);
    return [answered, ...(await found(queued)), notifications];
  },
});

const removed: readonly Scene[] = [
  {
    statement: queue.remove,
    title: 'an event is removed from the queue, and no other one',
    async play(stage) {
      const [id] = await enqueued(stage, [{ due_at: now }, { due_at: later }]);
      return [await stage.call(id), ...(await stage.found(queued))];
    },
  },
  {
    statement: queue.remove,
    title: 'events removed at once are each removed',
    async play(stage) {
      const [first, , third] = await enqueued(stage, [
        { due_at: now },
        { due_at: later },
        { due_at: rare },
      ]);
      const answered = await stage.callBatch([first, unknownId, third]);
      return [answered, ...(await stage.found(queued))];
    },
  },
];

export const queueScenes: readonly Scene[] = [
  take('the events that are due are taken, and the time of the next one is reported', [
    { due_at: earlier },
    { due_at: now },
    { due_at: rare },
    { due_at: later },
  ]),
  take('nothing is taken from an empty queue', []),
  take('nothing is taken before it is due', [{ due_at: later }]),
  take('an event that the caller is settling is not taken', [{ due_at: now }, { due_at: now }], {
    underWay: [0],
  }),
  take(
    'as many are taken as there is room for, the earliest first',
    [{ due_at: now }, { due_at: earlier }, { due_at: now }, { due_at: made }],
    { room: 2 },
  ),
  take('an event at which many attempts have not ended is taken rarely', [
    { due_at: now, attempts: 7, failures: 4 },
    { due_at: now, attempts: 8 },
  ]),
  postpone('an event is put off', now),
  postpone('an event that was woken meanwhile is not put off', earlier),
  postpone('an event at which another attempt has begun is not put off', later),
  postpone('an event is put off without an error: it has not failed', now, null),
  postponedTogether,
  take('it is reported that an event waits', [{ due_at: later, seen: '' }]),
  waiting('events that wait are found, and no transaction', ['none'], [{ end_to_end: 'E-1' }]),
  waiting(
    'the transactions that have an id are found',
    ['E-1', 'key', 'a'.repeat(25), 'bank-1'],
    [
      { end_to_end: 'E-1', phase: 'UNKNOWN' },
      { end_to_end: 'E-2', phase: 'ACCEPTED', idempotency_key: 'key', updated_at: later },
      { ...charge, idempotency_key: 'c' },
      { end_to_end: 'E-4', phase: 'ACCEPTED', reported: 'bank-1' },
      { end_to_end: 'E-5', phase: 'ACCEPTED', reported: 'bank-2' },
    ],
  ),
  waiting(
    'the key of a charge is not waited for',
    ['key'],
    [{ ...charge, idempotency_key: 'key' }],
  ),
  wake('an event that waits is woken', {}),
  wake('an event whose attempt has begun is not woken', { attempts: 1 }),
  wokenTogether,
  adopted,
  add('a stored event is queued, and has waited since its receipt', {}),
  add('a stored event is queued, and has waited since a replay', { waitingSince: made }),
  add('an event without a payload is not queued', {
    event: { payload: null, status: 'processed' },
  }),
  add('an event that is not stored is not queued', { isUnknown: true }),
  add('an event of the queue that is due later is due at once', { inQueue: { due_at: later } }),
  add('an event of the queue that is due stays as it is', { inQueue: { due_at: earlier } }),
  ...removed,
];
