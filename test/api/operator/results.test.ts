/** An op runs in the command's process or behind a socket: both give the same result. */
import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import type { LocalContext } from '../../../src/context/context.ts';
import { loadOp, type OpInput, type OpName } from '../../../src/operator/index.ts';
import { paymentRefusal } from '../../../src/provider/refusals.ts';
import { queueJob } from '../jobs/loops.ts';
import { confirmed, startSettlingApp } from '../jobs/settling.ts';
import { storeDisputeReport } from '../../../src/disputes/dispute-repository.ts';
import { inTransaction } from '../../../src/db/unit-of-work.ts';
import { changeLimits } from '../../../src/ledger/spending-limit-repository.ts';
import { givenCustomer } from '../../support/factories.ts';
import { openTestDatabase } from '../../support/open-database.ts';
import { resolvePix, riskOfCompleting } from '../../../src/operator/pix-resolve.ts';
import { isPlainJson, unwatched } from './asking.ts';

const environment = {
  PIX_LIMIT_DAY: '100.00',
  APP_EVENTS_URL: 'http://127.0.0.1:9/',
  APP_EVENTS_SECRET: `whsec_${'A'.repeat(32)}`,
};
const app = await startSettlingApp({ environment });
const { email, id } = app.customer;
const pending = await app.givenSend();
const unlisted = paymentRefusal({ status: 422, code: 'E42' }, new Map());
const refusing = mock.method(app.context.provider, 'pay', () => Promise.reject(unlisted));
const other = await givenCustomer(app);
await app.send(other, { pix_key: 'ana@example.com', amount: 10 });
const third = await givenCustomer(app);
const { body: unmade } = await app.send(third, { pix_key: 'ana@example.com', amount: 10 });
refusing.mock.restore();
const overrulable = { id: unmade.transaction_id };
const paid = { ...overrulable, as: 'completed', confirm: riskOfCompleting } as const;
await resolvePix.run(app.context, { ...paid, reason: 'ticket 7' }, unwatched);
const completed = await app.givenSend();
const settled = await app.receive(confirmed({ endToEnd: completed.end_to_end }));
const parked = await app.receive(confirmed({ endToEnd: app.newEndToEnd() }));
const contradicting = { ...confirmed({ endToEnd: completed.end_to_end }), status: 'ERROR' };
const anomaly = await app.receive({ ...contradicting, error: { code: 'AB03' } });
const finished = { status: 'dead', finished_at: app.clock.now() };
const deadJob = await queueJob(app, 'failed', finished);
const leaving = await givenCustomer(app);
const user = { user: String(id) };
const reason = { ...user, reason: 'ticket 7' };

await app.rows(
  `insert into reconciliations (day, user_id, state, reason, tried_at)
   values ('2026-05-01', $1, 'UNREAD', 'NO_SESSION', $2)`,
  [id, app.clock.now()],
);
const day = '2026-05-23';
// The bank has no such payment: a difference.
await app.rows(
  `insert into reconciliation_differences
          (id, day, user_id, kind, reason, subject, found_at, seen_at)
   values (1, '2026-05-01', $1, 'UNPROVEN', 'unreadable', 'line', $2, $2)`,
  [id, app.clock.now()],
);
await storeDisputeReport(app.context, {
  disputeId: completed.id,
  endToEnd: null,
  status: 'OPEN',
});

await inTransaction(app.context, (transaction) =>
  changeLimits(transaction, { userId: id, by: 'customer' }, (stored) => ({
    ...stored,
    day: { ...stored.day, own: { value: 0, next: null, nextAt: null } },
  })),
);

const toldId = `pix_${completed.id}`;

/** In an order in which every op succeeds: one that changes data precedes its reversal. */
const inputs: { readonly [Name in OpName]: OpInput<Name> } = {
  'inspect database': {},
  'migrate status': {},
  'migrate up': {},
  'user create': {
    name: 'Ana',
    email: 'ana@results.test',
    document: '111.444.777-35',
    phone: '(11) 98765-4321',
    password: 'correct horse battery',
  },
  'user create-dev': { email: 'dev@results.test', password: 'correct horse battery' },
  'user list': { limit: 100 },
  'user show': user,
  'user identify': { user: email },
  'session list': { limit: 100 },
  'account block': reason,
  'account unblock': reason,
  'limit set': { ...reason, day: 100 },
  'limit restore': reason,
  'limit show': user,
  'webhook accept': { ids: [anomaly.eventId], reason: 'ticket 7' },
  'webhook list': { limit: 100 },
  'webhook replay': { eventIds: [parked.eventId, settled.eventId], dryRun: true, limit: 100 },
  'webhook send': { transactionId: pending.id, status: 'COMPLETED', shape: 'entity' },
  'webhook show': { id: parked.eventId },
  'jobs list': { limit: 100 },
  'jobs stats': {},
  'jobs retry': { ids: [deadJob] },
  'pix audit': {},
  'pix list': { limit: 100 },
  'pix for-bank': { limit: 100 },
  'pix show': { id: completed.id },
  'provider unknown': {},
  'provider try': { codes: ['E42'], limit: 100 },
  'pix pause': { reason: 'ticket 7' },
  'pix resume': { reason: 'ticket 7' },
  'pix disputes': { limit: 100 },
  'pix resolve': {
    id: pending.id,
    as: 'completed',
    reason: 'ticket 7',
    confirm: 'money has moved',
  },
  'pix overrule': { id: overrulable.id, reason: 'ticket 8', confirm: 'money may have moved' },
  'pix resolve-list': {
    entries: [{ line: 1, name: pending.id, as: 'completed' }],
    reason: 'ticket 7',
  },
  reconcile: { day, user: String(id) },
  'reconcile list': { limit: 100 },
  'reconcile waiting': { limit: 100 },
  'reconcile accept': { ids: ['1'], reason: 'ticket 7' },
  'session revoke': { of: String(id) },
  'user disable': user,
  'user enable': user,
  'user reset-password': { ...user, password: 'another horse battery' },
  'subject export': reason,
  // The other one has an open dispute.
  'subject erase': { user: leaving.email, reason: 'ticket 7' },
  'events resend': { ids: [toldId] },
  'events list': { limit: 100 },
  'audit list': { limit: 100 },
  'audit events': { limit: 100 },
  'request-id': { id: '8f14e45f' },
  'migrate down': {},
};

/** The service's role may not change the schema. */
const asOwner = { ...app.context, db: (await openTestDatabase()).db };

/** The payments wait for the bank. */
const days = 2 * 24 * 60 * 60_000;
const now = () => new Date(app.clock.now().getTime() + days);
const later = { ...app.context, clock: { ...app.clock, now } };

const contexts: Partial<Record<string, LocalContext>> = {
  'migrate down': asOwner,
  'pix for-bank': later,
};

const emptyLists: ReadonlySet<string> = new Set(
  'pending unknown applied notDead notFound waitsFor refunds keptEvents notOpen settled'.split(' '),
);

describe('the result of an op', () => {
  for (const [name, input] of Object.entries(inputs)) {
    it(`equals its JSON form: ${name}`, async () => {
      const op = await loadOp(name as OpName);
      const result = await op.run(contexts[name] ?? app.context, input as never, unwatched);
      isPlainJson(result);
      // A list without rows would prove nothing.
      for (const [member, value] of Object.entries(result as object)) {
        const mayBeEmpty = emptyLists.has(member);
        assert.ok(mayBeEmpty || !Array.isArray(value) || value.length > 0, `no ${member}`);
      }
    });
  }
});
