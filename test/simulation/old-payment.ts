/** An old executed payment whose outcome the service does not know. */
import { decimalFromCents } from '../../src/domain/money.ts';
import type { Simulation } from './simulation.ts';

const ageMs = 40 * 24 * 60 * 60_000;
const amountCents = 1_234;
const likelihood = 0.2;

const id = '019c0000-0000-7000-8000-000000000001';
const key = 'an old key';
const endToEnd = 'E111657562026041412000000000old1';

/**
 * Stores an old payment in some seeds. Its last update is recent, so that the sweep does not wait
 * for an hour between two look-ups of its outcome.
 */
export async function storeOldPayment({
  store,
  ledger,
  scheduler,
  chance,
}: Simulation): Promise<void> {
  const [customer] = store.customers;
  if (!customer || !chance.happens(likelihood)) return;
  const executedAtMs = scheduler.nowMs - ageMs;
  const payment = { customer, endToEnd, clientRequestId: key, amountCents, executedAtMs };
  ledger.execute({ ...payment, bankId: 'bank-old', end: 'completed', txid: null }).state =
    'completed';
  const times = [new Date(executedAtMs), new Date(scheduler.nowMs)];
  await store.rows(
    `insert into pix_transactions
            (id, user_id, operation, idempotency_key, fingerprint, status, phase, outcome, amount,
             pix_key, end_to_end, created_at, updated_at)
     values ($1, $2, 'SEND', $3, '\\x00', 'PROCESSING', 'UNKNOWN', 'unknown', $4,
             'loja@example.com', $5, $6, $7)`,
    [id, customer.id, key, decimalFromCents(amountCents), endToEnd, ...times],
  );
  await store.rows(
    `insert into pix_timeline (transaction_id, phase, at)
     values ($1, 'RESERVED', $2), ($1, 'RESOLVED', $2), ($1, 'PAYING', $2), ($1, 'UNKNOWN', $3)`,
    [id, ...times],
  );
}
