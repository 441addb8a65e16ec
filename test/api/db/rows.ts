/** One good row of each table, for tests that spoil one column at a time. */
import type { OpenDatabase } from '../../support/open-database.ts';

export type Row = Readonly<Record<string, unknown>>;

export const at = new Date('2026-05-24T12:00:00.000Z');

let made = 0;

/** A UUID that no other row has. */
export function uuid(): string {
  made += 1;
  return `00000000-0000-4000-8000-${String(made).padStart(12, '0')}`;
}

/** A minute that no other row has. */
const minute = (): Date => new Date(at.getTime() + (made += 1) * 60_000);

const dated = { created_at: at, updated_at: at };

/** A good row, without the columns that point at another table. */
export const goodRow = {
  users: (): Row => ({
    name: 'Maria da Silva',
    email: `${uuid()}@example.com`,
    password_hash: '$argon2id$',
    ...dated,
  }),
  accounts: (): Row => ({ provider: 'provider', status: 'ACTIVE', ...dated }),
  banking_sessions: (): Row => ({
    id: uuid(),
    status: 'ACTIVE',
    sealed_token: Buffer.from('sealed'),
    created_at: at,
    renewed_at: at,
  }),
  pix_transactions: (): Row => ({
    id: uuid(),
    operation: 'SEND',
    idempotency_key: uuid(),
    fingerprint: Buffer.from('fingerprint'),
    status: 'PROCESSING',
    phase: 'RESERVED',
    amount: '10.50',
    ...dated,
  }),
  operator_actions: (): Row => ({
    at,
    operator: 'ana',
    command: 'user disable',
    target: 'user:42',
    outcome: 'done',
  }),
  security_events: (): Row => ({ at, kind: 'login', identity: 'digest' }),
  pix_timeline: (): Row => ({ phase: 'RESERVED', at }),
  onboarding_applications: (): Row => ({
    id: uuid(),
    person_type: 'PF',
    status: 'IN_PROGRESS',
    steps: '{}',
    ...dated,
  }),
  onboarding_documents: (): Row => ({
    id: uuid(),
    status: 'stored',
    tipo_documento: 1,
    content_type: 'image/png',
    size_bytes: 6,
    chunk_count: 1,
    content_hash: Buffer.from(uuid()),
    created_at: at,
    stored_at: at,
  }),
  onboarding_document_chunks: (): Row => ({ place: 0, sealed_content: Buffer.from('sealed') }),
  webhook_events: (): Row => ({
    id: uuid(),
    payload_hash: Buffer.from(uuid()),
    payload: Buffer.from('{}'),
    status: 'received',
    received_at: at,
  }),
  webhook_queue: (): Row => ({ due_at: at, waiting_since: at }),
  webhook_waits: (): Row => ({ id_value: uuid() }),
  webhook_refusals: (): Row => ({
    minute: minute(),
    reason: 'wrong_secret',
    refusals: 1,
    last_at: at,
  }),
  jobs: (): Row => ({ kind: 'test', payload: '{}', status: 'queued', run_at: at, created_at: at }),
  throttle_counters: (): Row => ({
    key: uuid(),
    window_started_at: at,
    attempts: 1,
    expires_at: at,
  }),
  app_events: (): Row => ({
    id: uuid(),
    type: 'pix.completed',
    user_id: 1,
    status: 'COMPLETED',
    at,
  }),
  reconciliations: (): Row => ({
    day: '2026-05-23',
    state: 'READ',
    tried_at: at,
    read_at: at,
  }),
  reconciliation_differences: (): Row => ({
    day: '2026-05-23',
    kind: 'MISSING_HERE',
    reason: 'payment_out',
    subject: uuid(),
    found_at: at,
    seen_at: at,
  }),
  pix_limits: (): Row => ({ version: 1 }),
  pix_pauses: (): Row => ({
    began_at: at,
    began_by: 'ponte',
    reason: 'a test',
    ended_at: at,
    ended_by: 'ana',
  }),
  pix_disputes: (): Row => ({
    transaction_id: uuid(),
    user_id: 1,
    status: 'REQUESTED',
    situation: 'SCAM',
    requested_at: at,
    updated_at: at,
  }),
  pix_open: (): Row => ({ transaction_id: uuid(), has_code: false }),
  login_addresses: (): Row => ({ address_digest: Buffer.from(uuid()), last_login_at: at }),
} as const;

export type Table = keyof typeof goodRow;

type Rows = Pick<OpenDatabase, 'rows'>;

/** Inserts a row. @returns its id. */
export async function insert({ rows }: Rows, table: Table, row: Row): Promise<unknown> {
  const columns = Object.keys(row);
  const places = columns.map((_, index) => `$${index + 1}`);
  const [inserted] = await rows<{ id: unknown }>(
    `insert into ${table} (${columns.join(', ')}) values (${places.join(', ')}) returning *`,
    Object.values(row),
  );
  return inserted?.id;
}

/** The columns that point at the row's parent, which is made for it. */
export async function insertParent(open: Rows, table: Table): Promise<Row> {
  switch (table) {
    case 'accounts':
    case 'banking_sessions':
    case 'login_addresses':
    case 'pix_limits':
    case 'reconciliations':
    case 'reconciliation_differences':
    case 'pix_transactions':
    case 'onboarding_applications':
      return { user_id: await insert(open, 'users', goodRow.users()) };
    case 'pix_timeline':
      return { transaction_id: await insertGood(open, 'pix_transactions') };
    case 'onboarding_documents':
      return { application_id: await insertGood(open, 'onboarding_applications') };
    case 'onboarding_document_chunks':
      return { document_id: await insertGood(open, 'onboarding_documents') };
    case 'webhook_queue':
    case 'webhook_waits':
      return { event_id: await insertGood(open, 'webhook_events') };
    default:
      return {};
  }
}

/** Inserts a good row with a parent of its own, changed in some columns, and gives its id. */
export async function insertGood(open: Rows, table: Table, changes: Row = {}): Promise<unknown> {
  return insert(open, table, {
    ...goodRow[table](),
    ...(await insertParent(open, table)),
    ...changes,
  });
}

/** The columns of a Pix that was received, besides its user and its end-to-end id. */
export function receivedColumns(now: Date): Row {
  const times = { created_at: now, updated_at: now, settled_at: now };
  const request = { pix_key: null, idempotency_key: null, fingerprint: null };
  return { operation: 'RECEIVED', status: 'COMPLETED', phase: 'SETTLED', ...request, ...times };
}
