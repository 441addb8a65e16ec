/** Scenes of the statements that store events, settle them and end their jobs. */
import {
  finishWebhookEvent,
  queueReceivedEvents,
  storeWebhookEvent,
} from '../../../src/settlement/event-repository.ts';
import { moment, type Scene, type Stage } from './stage.ts';

const { earlier, now, later } = moment;

type Columns = Readonly<Record<string, unknown>>;

const endToEnd = 'E00000000202605241200000000000001';
const otherEndToEnd = 'E00000000202605241200000000000002';
const key = 'key';
const hash = Buffer.from('hash');
const noIds = [null, null, null, null];
const freeId = '00000000-0000-4000-8000-00000000ffff';
const charge = { operation: 'CHARGE', transaction_identification: 'a'.repeat(26) };

const unknown = { phase: 'UNKNOWN', end_to_end: endToEnd, idempotency_key: key };
const other = { phase: 'UNKNOWN', end_to_end: otherEndToEnd };
const done = { ...unknown, phase: 'SETTLED', status: 'COMPLETED', settled_at: now };

async function stored({ found }: Stage): Promise<readonly unknown[]> {
  return [
    ...(await found(`select status, results is null as bare, processed_at is null as open
                       from webhook_events order by id`)),
    ...(await found(`select status, attempts, leased_by, run_at < '2026-05-24 13:00Z' as due
                       from jobs order by id`)),
    ...(await found('select id_value from webhook_waits')),
  ];
}

const event = (title: string, failed: string | null, worker: string | null): Scene => ({
  statement: storeWebhookEvent,
  title,
  async play(stage) {
    const lease = worker === null ? null : later;
    const values = [freeId, hash, Buffer.from('{}'), now, worker, lease, failed, ...noIds];
    const rows = await stage.fetchRows(...values);
    const results = rows.map((one) => [one['eventId'] === freeId, one['isNew'], one['id']]);
    return [results, ...(await stored(stage)), stage.notifications.map(({ length }) => length)];
  },
});

const again = (title: string, changes: Columns, failed: string | null = null): Scene => ({
  statement: storeWebhookEvent,
  title,
  async play(stage) {
    const { row, fetchRows } = stage;
    await row('webhook_events');
    const id = await row('webhook_events', { payload_hash: hash, ...changes });
    const rest = [null, null, failed, ...noIds];
    const rows = await fetchRows(freeId, hash, Buffer.from('{}'), now, ...rest);
    const results = rows.map((one) => [one['eventId'] === id, one['isNew'], one['id']]);
    return [results, ...(await stored(stage))];
  },
});

/** Two calls in one batch. */
const bothFinished: Scene = {
  statement: finishWebhookEvent,
  title: 'two events finished at once each end their own job',
  async play({ row, callBatch, found }) {
    const lease = { status: 'running', leased_by: 'me', leased_until: later };
    const ids = [await row('webhook_events'), await row('webhook_events')];
    const jobs = [await row('jobs', lease), await row('jobs', lease)];
    const both = <Value>(value: Value): Value[] => [value, value];
    await callBatch(
      ids,
      ['processed', 'parked'],
      both('[]'),
      [now, later],
      both('[]'),
      both(null),
      both(now),
      jobs,
      both('me'),
      [null, earlier],
      both('[]'),
      [now, later],
    );
    const events = await found('select status from webhook_events order by id');
    return [...events, ...(await found('select status from jobs order by id'))];
  },
};

const bothStored: Scene = {
  statement: storeWebhookEvent,
  title: 'two events stored at once each get their own job',
  async play({ callBatch, found }) {
    const ids = [freeId, freeId.replace('ffff', 'fffe')];
    const both = <Value>(value: Value): Value[] => [value, value];
    const bytes = [Buffer.from('one'), Buffer.from('two')];
    const facts = [both(null), both(null), ['E-1', null], ...noIds.map(both)];
    const rows = await callBatch(ids, bytes, bytes, both(now), ...facts);
    const waits = await found('select id_value from webhook_waits');
    return [rows, ...(await found('select status from jobs order by id')), ...waits];
  },
};

/** Events of one batch: each has a lease or none, or has the bytes of a stored event. */
const storedTogether = (
  title: string,
  calls: readonly ('leased' | 'queued' | 'again')[],
): Scene => ({
  statement: storeWebhookEvent,
  title,
  async play({ row, fetchBatch, found }) {
    await row('webhook_events', { payload_hash: hash, status: 'processed' });
    const ids = calls.map((_, at) => freeId.replace('ffff', `fff${at}`));
    const hashes = calls.map((call, at) => (call === 'again' ? hash : Buffer.from(String(at))));
    const isLeased = calls.map((call) => call !== 'queued');
    const each = <Value>(value: Value): Value[] => calls.map(() => value);
    const rows = await fetchBatch(
      ids,
      hashes,
      hashes,
      each(now),
      isLeased.map((leased, at) => (leased ? `me/${at}` : null)),
      isLeased.map((leased) => (leased ? later : null)),
      each(null),
      ...noIds.map(each),
    );
    return [
      rows.map((one) => [one['isNew'], one['sharedId'] === null, one['sharedBy']]),
      ...(await found(`select kind, unique_key, status, attempts, leased_by, payload::text
                         from jobs order by unique_key`)),
    ];
  },
});

/** A shared job that is run again. */
const splitUp: Scene = {
  statement: queueReceivedEvents,
  title: 'the received events of a shared job get jobs of their own',
  async play({ row, call, found, notifications }) {
    const withJob = await row('webhook_events');
    await row('jobs', { unique_key: `webhook:${String(withJob)}`, payload: '{}', run_at: later });
    await row('webhook_events');
    const open = await row('webhook_events');
    const processed = await row('webhook_events', { status: 'processed' });
    await call([withJob, open, processed], now);
    const jobs = await found(`select status, unique_key = 'webhook:' || (payload->>'eventId') as own
                                from jobs order by id`);
    return [...jobs, notifications.map(({ length }) => length)];
  },
};

interface Finished {
  readonly attempted?: Date | null;
  readonly jobAt?: Date | null;
  readonly worker?: string;
  readonly wanted?: boolean;
  readonly status?: string;
}

const finish = (title: string, how: Finished): Scene => ({
  statement: finishWebhookEvent,
  title,
  async play({ row, fetchRows, found }) {
    const { attempted = null, jobAt = null, worker = 'me', wanted = false } = how;
    const { status = 'running' } = how;
    const lease = { leased_by: 'me', leased_until: later };
    const ids: unknown[] = [];
    for (const name of ['first', 'second']) {
      const id = await row('webhook_events');
      for (const value of [name, `${name} again`]) {
        await row('webhook_waits', { event_id: id, id_value: value });
      }
      ids.push(id);
    }
    const unique_key = `webhook:${String(ids[0])}`;
    const columns = { attempts: 3, unique_key, wanted, status, ...(status === 'running' && lease) };
    const job = await row('jobs', { run_at: later, ...columns });
    await row('jobs', { status: 'running', ...lease });
    const waits = JSON.stringify(['first', 'third']);
    const [answered] = await fetchRows(
      ids[0],
      'parked',
      '[]',
      now,
      waits,
      jobAt,
      now,
      status === 'running' ? job : null,
      worker,
      attempted,
      '[]',
      now,
    );
    const rows =
      await found(`select status, leased_by, attempts, wanted, finished_at is null as open,
                                     run_at = '2026-05-24 12:01Z' as due from jobs order by id`);
    const waiting = await found('select id_value from webhook_waits order by id_value');
    return [answered?.['isFinished'], answered?.['jobStatus'], ...rows, ...waiting];
  },
});

/** The open transactions of two events, and the moves of each event. */
interface Moved {
  readonly open: readonly Columns[];
  /** For each event: the transactions that it moves, and their changes. */
  readonly moves: readonly (readonly [place: number, changes?: Columns])[][];
  /** The id that a third event waits for. */
  readonly waitsFor?: string;
  /** Whether the first event waits for that id too. */
  readonly waitsItself?: boolean;
  readonly attempted?: Date | null;
}

const settle = (title: string, { open, moves, waitsFor, ...how }: Moved): Scene => ({
  statement: finishWebhookEvent,
  title,
  async play({ row, fetchBatch, found, notifications }) {
    const lease = { leased_by: 'me', leased_until: later };
    const transactions: unknown[] = [];
    for (const columns of open) transactions.push(await row('pix_transactions', columns));
    const eventWithJob = async (): Promise<readonly [unknown, unknown]> => {
      const id = await row('webhook_events');
      const unique_key = `webhook:${String(id)}`;
      return [id, await row('jobs', { unique_key, status: 'running', ...lease })];
    };
    const events = [];
    while (events.length < moves.length) events.push(await eventWithJob());
    const ids = events.map(([id]) => id);
    const waiting = [(await eventWithJob())[0], ...(how.waitsItself ? [ids[0]] : [])];
    for (const event_id of waitsFor === undefined ? [] : waiting) {
      await row('webhook_waits', { event_id, id_value: waitsFor });
    }
    const each = <Value>(value: Value): Value[] => moves.map(() => value);
    const columns = [
      ids,
      each('processed'),
      each('[]'),
      moves.map((_, at) => (at ? later : now)),
      each('[]'),
      each(null),
      each(now),
      events.map(([, job]) => job),
      each('me'),
      each(how.attempted ?? null),
      moves.map((ofEvent) =>
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
      ),
      moves.map((_, at) => (at ? later : now)),
    ];
    const rows = await fetchBatch(...columns);
    const answered = rows.map((one) => [one['isFinished'], typeof one['movedIds']]);
    return [
      answered,
      ...(await found(`select phase, status, end_to_end, outcome, provider_txid, settled_at is null,
                              updated_at = '2026-05-24 12:01Z' as first
                         from pix_transactions order by end_to_end`)),
      ...(await found('select phase, note, provider_txid from pix_timeline order by id')),
      ...(await found('select status from webhook_events order by id')),
      ...(await found('select status, wanted from jobs order by id')),
      notifications.map(({ length }) => length),
    ];
  },
});

export const eventScenes: readonly Scene[] = [
  event('an event has a job in the queue', null, null),
  event('an event under a lease has a running job', null, 'me'),
  event('an event of a failed send waits for the send', endToEnd, null),
  again('a repeated event gets a new job', {}),
  again('a repeated event that is processed gets no job', {
    status: 'processed',
    processed_at: now,
    results: '[]',
  }),
  again('a repeated event of a failed send does not wait again', {}, endToEnd),
  finish('an event is finished with its job', {}),
  finish('an event that another process has finished is not finished again', {
    attempted: earlier,
  }),
  finish('a job under another lease does not end', { worker: 'you' }),
  finish('a job that was requested again is queued', { wanted: true }),
  finish('a waiting event has a job at the earlier time', { jobAt: now, status: 'queued' }),
  finish('a waiting event requests the running job again', { jobAt: now, worker: 'you' }),
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
  settle('a move that does not settle a transaction sends no notification', {
    open: [unknown],
    moves: [[[0, { phase: 'ACCEPTED', status: 'PROCESSING', outcome: 'accepted' }]]],
  }),
  settle('the event that waits for the key of a send is woken by its move', {
    open: [unknown],
    moves: [[[0]]],
    waitsFor: key,
    waitsItself: true,
  }),
  settle('the event that waits for the key of a charge is not woken by its move', {
    open: [{ ...charge, ...unknown }],
    moves: [[[0]]],
    waitsFor: key,
  }),
  settle('an event that ended in the meantime is not finished', {
    open: [unknown],
    moves: [[[0]]],
    attempted: earlier,
  }),
  bothFinished,
  bothStored,
  storedTogether('two events under leases share a job', ['leased', 'leased']),
  storedTogether('one event under a lease shares no job', ['leased', 'queued']),
  storedTogether('an event under a lease shares no job with a duplicate', ['leased', 'again']),
  storedTogether('queued events and duplicates have no part in a shared job', [
    'leased',
    'queued',
    'again',
    'leased',
  ]),
  splitUp,
];
