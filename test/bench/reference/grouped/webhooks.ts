/** The provider's events at the grouped server: stored in groups, and settled from memory. */
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Pool, Statement } from '../database.ts';
import { createWebhookLoop, findByHash, statuses, type ReportedEvent } from '../webhook-loop.ts';
import { readBytes, invalid, parsed, type Reply } from './reply.ts';
import { grouped, type OrdinalRow } from './batcher.ts';
import type { WriteStatements } from './statements.ts';

const maxEvents = 500;
const digest = (bytes: string | Buffer): Buffer => createHash('sha256').update(bytes).digest();

export function addWebhooks(pool: Pool, secret: string, statements: WriteStatements) {
  const { query } = pool;
  const expected = digest(secret);
  const store = grouped<OrdinalRow & { readonly job_id: string }>(query, statements.storeEvents);
  const settler = createSettler(pool, statements);
  return {
    async receive(request: IncomingMessage): Promise<Reply> {
      if (!timingSafeEqual(digest(String(request.headers['x-webhook-secret'])), expected)) {
        return { status: 401, body: { message: 'The secret is wrong.' } };
      }
      const payload = await readBytes(request);
      const reported = parsed(payload);
      if (reported === undefined) return invalid;
      const hash = digest(payload);
      let id: string | undefined = randomUUID();
      const stored = await store([id, hash, payload]);
      if (stored) settler.add({ id, jobId: stored.job_id, reported });
      else id = (await query<{ id: string }>(findByHash, [hash]))[0]?.id;
      const body = { message: 'The event is received.', event_id: id, duplicate: !stored };
      return { status: 200, body };
    },
    close: () => settler.close(),
  };
}

interface Stored {
  readonly id: string;
  readonly jobId: string;
  readonly reported: unknown;
}

function isReportedEvent(value: unknown): value is ReportedEvent {
  const { endToEnd, status, amount } = (value ?? {}) as Record<string, unknown>;
  return [typeof endToEnd, typeof status, typeof amount].join() === 'string,string,number';
}

interface OpenRow {
  readonly id: string;
  readonly job_id: string;
  readonly payload: Buffer;
}

function createSettler(pool: Pool, { settleEvents, findOpenEvents }: WriteStatements) {
  const onError = (error: unknown): void => console.error(error);
  // Settles the events that a dead process or a failed statement has left open.
  const loop = findOpenEvents ? null : createWebhookLoop(pool, onError);
  let waiting: Stored[] = [];
  let running: Promise<void> | null = null;

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const events = waiting.slice(0, maxEvents);
      waiting = waiting.slice(maxEvents);
      const reported = events.map((event) => event.reported as ReportedEvent);
      const columns = [
        events.map(({ id }) => id),
        events.map(({ jobId }) => jobId),
        reported.map(({ endToEnd }) => endToEnd),
        reported.map(({ status }) => statuses[status] ?? 'FAILED'),
        reported.map(({ amount }) => amount.toFixed(2)),
      ];
      await pool.query(settleEvents, columns).catch(onError);
    }
    running = null;
  }

  function add(event: Stored): void {
    if (isReportedEvent(event.reported)) waiting.push(event);
    running ??= drain();
  }

  async function addOpen(statement: Statement): Promise<void> {
    for (const { id, job_id: jobId, payload } of await pool.query<OpenRow>(statement, []))
      add({ id, jobId, reported: parsed(payload) });
  }
  const reopened = findOpenEvents && addOpen(findOpenEvents).catch(onError);

  return {
    add,
    async close(): Promise<void> {
      await reopened;
      await running;
      await loop?.close();
    },
  };
}
