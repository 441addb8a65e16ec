/**
 * Payments under way when the process dies: `kill -9`, a restart on the same data, and a repeat of
 * every payment with its key.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTestDatabase, onServer, type TestDatabase } from '../support/db.ts';
import { eventually } from '../support/eventually.ts';
import {
  settingsFor,
  startService,
  type ServiceResponse,
  type ServiceProcess,
} from './service-process.ts';

const paymentCount = 90;
/** The number of concurrent payments: enough for the death to find payments in every phase. */
const atOnce = 20;
const answeredBeforeDeath = 40;

/** The balance of a new account at the simulated bank, in centavos. */
const openingCents = 1_000_000;

interface Payment {
  readonly key: string;
  /** Unique, so that the amount identifies the payment in a list. */
  readonly cents: number;
}

const payments: readonly Payment[] = Array.from({ length: paymentCount }, (_, index) => ({
  key: `payment-${index}`,
  cents: 101 + index,
}));

let database: TestDatabase;

before(async () => {
  database = await createTestDatabase();
});

after(() => database.drop());

describe('payments that are under way when the process is killed', { timeout: 110_000 }, () => {
  it('exist once, are executed at most once, and end by the word of the bank', async (t) => {
    const first = startService(t, settingsFor(database));
    await first.ready();
    const token = await first.logIn();
    const answered = await sendUntilDeath(first, token);
    assert.ok(answered.size >= answeredBeforeDeath);
    assert.ok(answered.size < paymentCount, 'the process died after its work, not in the middle');

    await letClaimsRunOut();
    const second = startService(t, settingsFor(database));
    await second.ready();
    // The session is a row and the keys are files, so the old token is still valid.
    const repeated = new Map<string, string>();
    await inTurns(payments, async (payment) => {
      const response = await send(second, token, payment);
      assert.equal(response.status, 200, JSON.stringify(response.body));
      repeated.set(payment.key, response.body.transaction_id);
    });
    for (const [key, id] of answered) assert.equal(repeated.get(key), id, key);

    const executed = await executedAmounts(second, token);
    assert.deepEqual(repeats([...executed.values()].flat()), [], 'no key is paid twice');
    // At most `AT_ONCE`, because a user may have 32 concurrent requests.
    await inTurns(payments, async ({ key, cents }) => {
      const id = repeated.get(key) ?? '';
      if (executed.has(key)) {
        assert.deepEqual(executed.get(key), [cents], key);
        assert.equal(await finalStatus(second, token, id), 'COMPLETED', key);
      } else {
        await assertUndecided(second, token, { key, cents });
      }
    });
    assert.ok(executed.size >= paymentCount - atOnce, `only ${executed.size} were executed`);
    await assertOneRowEach(second, token);
    await assertBalance(second, token, executed);
  });
});

/**
 * Sends payments concurrently, and kills the service when enough of them are answered.
 * @returns the transactions that the app has received, by key.
 */
async function sendUntilDeath(
  service: ServiceProcess,
  token: string,
): Promise<Map<string, string>> {
  const answered = new Map<string, string>();
  await inTurns(payments, async (payment) => {
    const response = await send(service, token, payment).catch(() => null);
    if (response === null) return;
    assert.equal(response.status, 200, JSON.stringify(response.body));
    answered.set(payment.key, response.body.transaction_id);
    if (answered.size === answeredBeforeDeath) service.signal('SIGKILL');
  });
  const { signal } = await service.ended;
  assert.equal(signal, 'SIGKILL');
  return answered;
}

/** Processes the items in order, `AT_ONCE` at a time. */
async function inTurns<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const worker = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

function send(
  service: ServiceProcess,
  token: string,
  { key, cents }: Payment,
): Promise<ServiceResponse> {
  const body = { pix_key: 'bruno@example.com', amount: cents / 100 };
  return service.call('/pix/send', { token, key, body });
}

/**
 * Expires the claims and leases of the dead process at once. On a server they last up to half a
 * minute, because another instance may hold them; on the embedded database no instance can.
 */
async function letClaimsRunOut(): Promise<void> {
  if (!database.databaseUrl) return;
  const { databaseUrl } = database;
  await onServer(
    databaseUrl,
    `update pix_transactions set claimed_until = now()
                                where claimed_until is not null`,
  );
  await onServer(databaseUrl, `update jobs set leased_until = now() where status = 'running'`);
}

/** The amounts that the bank has executed, in centavos by the app's key. */
async function executedAmounts(
  service: ServiceProcess,
  token: string,
): Promise<Map<string, number[]>> {
  const { body } = await service.call('/accounts/statement', { token });
  const executed = new Map<string, number[]>();
  for (const { clientRequestId, amount, type } of body.items.remote) {
    assert.equal(type, 'PIX_PAYMENT_OUT');
    const cents = Math.round(amount * 100);
    executed.set(clientRequestId, [...(executed.get(clientRequestId) ?? []), cents]);
  }
  return executed;
}

function repeats(amounts: readonly number[]): number[] {
  return amounts.filter((amount, index) => amounts.indexOf(amount) !== index);
}

/** Waits for the final status; repeats requests beyond the user's limit of concurrent waits. */
async function finalStatus(service: ServiceProcess, token: string, id: string): Promise<string> {
  const headers = { prefer: 'wait=20' };
  return eventually(async () => {
    const { body } = await service.call(`/pix/${id}`, { token, headers });
    return body.status === 'PROCESSING' ? null : body.status;
  }, `the end of ${id}`);
}

/**
 * The process may die just before it sends a payment. The service cannot know that, so it does not
 * fail the payment: the payment stays open, and a repeat does not pay it.
 */
async function assertUndecided(
  service: ServiceProcess,
  token: string,
  payment: Payment,
): Promise<void> {
  const { body, headers } = await send(service, token, payment);
  assert.equal(body.status, 'PROCESSING', payment.key);
  assert.equal(headers.get('pix-outcome'), 'unknown', payment.key);
}

async function assertOneRowEach(service: ServiceProcess, token: string): Promise<void> {
  const { body } = await service.call('/accounts/statement', { token });
  const amounts = body.items.local.map(({ amount }) => Math.round(amount * 100));
  assert.deepEqual(
    amounts.toSorted((one, other) => one - other),
    payments.map(({ cents }) => cents),
  );
}

async function assertBalance(
  service: ServiceProcess,
  token: string,
  executed: ReadonlyMap<string, readonly number[]>,
): Promise<void> {
  const spent = [...executed.values()].flat().reduce((sum, cents) => sum + cents, 0);
  const { body } = await service.call('/accounts/balance', { token });
  assert.equal(Math.round(body.balance * 100), openingCents - spent);
}
