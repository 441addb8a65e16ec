/** Scenes of the statements that store events, settle them and end their jobs. */
import { finishWebhookEvent, storeWebhookEvent } from '../../../src/settlement/event-repository.ts';
import { findCandidates } from '../../../src/settlement/transaction-repository.ts';
import { moment, type Scene, type Stage } from './stage.ts';

const { earlier, now, later } = moment;

type Columns = Readonly<Record<string, unknown>>;

const endToEnd = 'E00000000202605241200000000000001';
const otherEndToEnd = 'E00000000202605241200000000000002';
const key = 'key';
const hash = Buffer.from('hash');
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

const event = (says: string, failed: string | null, worker: string | null): Scene => ({
  statement: storeWebhookEvent,
  says,
  async play(stage) {
    const lease = worker === null ? null : later;
    await stage.ask(freeId, hash, Buffer.from('{}'), now, worker, lease, failed);
    return [...(await stored(stage)), stage.heard.map(({ length }) => length)];
  },
});

const again = (says: string, changes: Columns): Scene => ({
  statement: storeWebhookEvent,
  says,
  async play(stage) {
    const { row, answers } = stage;
    await row('webhook_events');
    const id = await row('webhook_events', { payload_hash: hash, ...changes });
    const none = [null, null, null];
    const rows = await answers(freeId, hash, Buffer.from('{}'), now, ...none);
    const isIt = rows.map((one) => [one['id'] === id, one['duplicate']]);
    return [isIt, ...(await stored(stage))];
  },
});

/** Two calls in one statement. */
const bothFinished: Scene = {
  statement: finishWebhookEvent,
  says: 'of two events that are finished at once each ends its own job',
  async play({ row, askTogether, found }) {
    const lease = { status: 'running', leased_by: 'me', leased_until: later };
    const ids = [await row('webhook_events'), await row('webhook_events')];
    const open = await row('pix_transactions', { phase: 'UNKNOWN', end_to_end: endToEnd });
    const ended = await row('pix_transactions', { ...done, end_to_end: otherEndToEnd });
    const jobs = [await row('jobs', lease), await row('jobs', lease)];
    const settled = [JSON.stringify([ended]), JSON.stringify([open])];
    const both = <Value>(value: Value): Value[] => [value, value];
    await askTogether(
      ...[ids, ['processed', 'parked'], both('[]'), [now, later], both('[]'), both(null)],
      ...[both(now), jobs, both('me'), both(null), settled],
    );
    const events = await found('select status from webhook_events order by id');
    return [...events, ...(await found('select status from jobs order by id'))];
  },
};

const bothStored: Scene = {
  statement: storeWebhookEvent,
  says: 'of two events that are stored at once each has its own job',
  async play({ askTogether, found }) {
    const ids = [freeId, freeId.replace('ffff', 'fffe')];
    const both = <Value>(value: Value): Value[] => [value, value];
    const bytes = [Buffer.from('one'), Buffer.from('two')];
    const facts = [both(null), both(null), ['E-1', null]];
    const rows = await askTogether(ids, bytes, bytes, both(now), ...facts);
    const waits = await found('select id_value from webhook_waits');
    return [rows, ...(await found('select status from jobs order by id')), ...waits];
  },
};

interface Finished {
  readonly looked?: Date | null;
  readonly settled?: Columns;
  readonly jobAt?: Date | null;
  readonly worker?: string;
  readonly wanted?: boolean;
  readonly status?: string;
}

const finish = (says: string, how: Finished): Scene => ({
  statement: finishWebhookEvent,
  says,
  async play({ row, ask, found }) {
    const { looked = null, settled, jobAt = null, worker = 'me', wanted = false } = how;
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
    const payment = settled ? await row('pix_transactions', settled) : null;
    const waits = JSON.stringify(['first', 'third']);
    const answered = await ask(
      ...[
        ids[0],
        'parked',
        '[]',
        now,
        waits,
        jobAt,
        now,
        status === 'running' ? job : null,
        worker,
      ],
      ...[looked, JSON.stringify(payment === null ? [] : [payment])],
    );
    const rows =
      await found(`select status, leased_by, attempts, wanted, finished_at is null as open,
                                     run_at = '2026-05-24 12:01Z' as due from jobs order by id`);
    const waiting = await found('select id_value from webhook_waits order by id_value');
    return [answered, ...rows, ...waiting];
  },
});

const candidates = (says: string, rows: readonly Columns[], ids: readonly unknown[]): Scene => ({
  statement: findCandidates,
  says,
  async play(stage) {
    for (const { told, note, ...changes } of rows) {
      const id = await stage.row('pix_transactions', changes);
      if (told) await stage.row('pix_timeline', { transaction_id: id, provider_txid: told });
      if (note) await stage.row('pix_timeline', { transaction_id: id, phase: 'PAYING', note });
    }
    const found = await stage.answers(...ids);
    return found.map((one) => [one['end_to_end'], one['provider_txid'], one['repeated']]);
  },
});

export const eventScenes: readonly Scene[] = [
  event('an event has a job in the queue', null, null),
  event('an event under a lease has a job that runs', null, 'me'),
  event('an event that says that a send has failed waits for the send', endToEnd, null),
  again('an event that comes again has a job again', {}),
  again('an event that is processed has none', {
    status: 'processed',
    processed_at: now,
    results: '[]',
  }),
  finish('an event is finished, and the job with it', {}),
  finish('an event that another process has finished since is not', { looked: earlier }),
  finish('an event whose payment is open is not finished', { settled: unknown }),
  finish('an event whose payment has ended is', { settled: done }),
  finish('a job whose lease is another’s does not end', { worker: 'you' }),
  finish('a job that was asked for again is queued', { wanted: true }),
  finish('an event that waits has a job at the earlier time', { jobAt: now, status: 'queued' }),
  finish('an event that waits asks again for the job that runs', { jobAt: now, worker: 'you' }),
  bothFinished,
  bothStored,
  candidates('by the end-to-end id', [unknown, other], [endToEnd, null, null, null]),
  candidates('by the key', [unknown, other], [null, key, null, null]),
  candidates(
    'a charge is not meant by the key',
    [{ ...charge, phase: 'ACCEPTED', idempotency_key: key }],
    [null, key, null, null],
  ),
  candidates(
    'by an id that was told',
    [{ ...unknown, told: 'bank-1' }, other],
    [null, null, null, 'bank-1'],
  ),
  candidates(
    'an id that was told of another send names that one',
    [unknown, { ...other, told: 'bank-1' }],
    [endToEnd, null, null, 'bank-1'],
  ),
  candidates(
    'an id that was told and is not named',
    [{ ...unknown, told: 'bank-2' }],
    [endToEnd, null, null, 'bank-1'],
  ),
  candidates(
    'a send beside a repeated one',
    [unknown, { ...other, note: 'after_unknown' }],
    [endToEnd, null, null, null],
  ),
  candidates(
    'a send whose attempt was not sent before',
    [{ ...unknown, note: 'after_not_sent' }],
    [endToEnd, null, null, null],
  ),
  candidates(
    'a repeated send',
    [{ ...unknown, note: 'after_unknown' }],
    [endToEnd, null, null, null],
  ),
  candidates(
    'a repeated send that has ended',
    [{ ...done, note: 'after_unknown' }],
    [endToEnd, null, null, null],
  ),
];
