/**
 * What is left of payments when the process dies in the middle of them: `kill -9`, a new start on
 * the same data, and every payment repeated with its key.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { createTestDatabase, onServer, type TestDatabase } from '../support/db.ts';
import { eventually } from '../support/eventually.ts';
import {
  settingsFor,
  startService,
  type ServiceAnswer,
  type ServiceProcess,
} from './service-process.ts';

const PAYMENTS = 90;
/** How many are under way at once, so that the death finds them in every phase. */
const AT_ONCE = 20;
const ANSWERED_BEFORE_DEATH = 40;

/** What the simulated bank gives to a new account, in centavos. */
const OPENING_CENTS = 1_000_000;

interface Payment {
  readonly key: string;
  /** Different for each, so that it tells the payment in a list. */
  readonly cents: number;
}

const payments: readonly Payment[] = Array.from({ length: PAYMENTS }, (_, index) => ({
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
    assert.ok(answered.size >= ANSWERED_BEFORE_DEATH);
    assert.ok(answered.size < PAYMENTS, 'the process died after its work, not in the middle');

    await letClaimsRunOut();
    const second = startService(t, settingsFor(database));
    await second.ready();
    // The session is a row and the keys are files: the token of before is good.
    const repeated = new Map<string, string>();
    await inTurns(payments, async (payment) => {
      const answer = await send(second, token, payment);
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      repeated.set(payment.key, answer.body.transaction_id);
    });
    for (const [key, id] of answered) assert.equal(repeated.get(key), id, key);

    const executed = await executedAmounts(second, token);
    assert.deepEqual(repeats([...executed.values()].flat()), [], 'no key is paid twice');
    // In turns, because a user may have 32 requests at a time.
    await inTurns(payments, async ({ key, cents }) => {
      const id = repeated.get(key) ?? '';
      if (executed.has(key)) {
        assert.deepEqual(executed.get(key), [cents], key);
        assert.equal(await finalStatus(second, token, id), 'COMPLETED', key);
      } else {
        await assertUndecided(second, token, { key, cents });
      }
    });
    assert.ok(executed.size >= PAYMENTS - AT_ONCE, `only ${executed.size} were executed`);
    await assertOneRowEach(second, token);
    await assertBalance(second, token, executed);
  });
});

/**
 * Sends payments, some at once, and kills the service when enough are answered.
 * @returns the transactions that the app has received, by key.
 */
async function sendUntilDeath(
  service: ServiceProcess,
  token: string,
): Promise<Map<string, string>> {
  const answered = new Map<string, string>();
  await inTurns(payments, async (payment) => {
    const answer = await send(service, token, payment).catch(() => null);
    if (answer === null) return;
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    answered.set(payment.key, answer.body.transaction_id);
    if (answered.size === ANSWERED_BEFORE_DEATH) service.signal('SIGKILL');
  });
  const { signal } = await service.ended;
  assert.equal(signal, 'SIGKILL');
  return answered;
}

/** Works on all of them in order, `AT_ONCE` at a time. */
async function inTurns<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const worker = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

function send(
  service: ServiceProcess,
  token: string,
  { key, cents }: Payment,
): Promise<ServiceAnswer> {
  const body = { pix_key: 'bruno@example.com', amount: cents / 100 };
  return service.call('/pix/send', { token, key, body });
}

/**
 * On a server the claims and leases of a dead process run out within half a minute, because another
 * instance may hold them; the embedded database knows that no instance does.
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

/** The bank's own word: what it has executed, in centavos by the app's key. */
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

/** One user may wait for a limited number at once: requests beyond it are repeated. */
async function finalStatus(service: ServiceProcess, token: string, id: string): Promise<string> {
  const headers = { prefer: 'wait=20' };
  return eventually(async () => {
    const { body } = await service.call(`/pix/${id}`, { token, headers });
    return body.status === 'PROCESSING' ? null : body.status;
  }, `the end of ${id}`);
}

/**
 * A process may die when a payment is about to leave and the bank has not seen it. No one can know
 * that, so the payment is not called failed: it stays open, and its repeat does not pay.
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
  assert.equal(Math.round(body.balance * 100), OPENING_CENTS - spent);
}
