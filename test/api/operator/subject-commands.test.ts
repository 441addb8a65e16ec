/** `ponte subject`: what is exported about a person, and what is left of one who was erased. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { entities } from '../../../src/db/entities/index.ts';
import { setLimits } from '../../../src/operator/spending-limits.ts';
import { storeDisputeReport, storeRequest } from '../../../src/disputes/dispute-repository.ts';
import { eraseUser, exportSubject } from '../../../src/operator/subjects.ts';
import { logIn, password, type TestUser } from '../../support/factories.ts';
import { confirmed, startSettlingApp } from '../jobs/settling.ts';
import {
  addressBody,
  giveAllButCode,
  newPerson,
  register,
  type PersonBody,
} from '../onboarding/applicants.ts';
import { refused, unwatched } from './asking.ts';
import { blockByPayment } from '../pix/pix-app-loss.ts';
import {
  beginPause,
  endPause,
  findOwedReading,
  findPause,
  storeReading,
} from '../../../src/ledger/pause-repository.ts';
import { runPonte } from './command-line.ts';

const environment = {
  PIX_LIMIT_DAY: '1000.00',
  APP_EVENTS_URL: 'http://127.0.0.1:9/',
  APP_EVENTS_SECRET: `whsec_${'A'.repeat(32)}`,
};
const app = await startSettlingApp({ environment });

const reason = 'request 7';
const decided = ['--reason', reason, '--yes'];

let born = 0;

/** A customer of whom every table has something, with the application that made the account. */
async function givenPerson(): Promise<TestUser & { person: PersonBody; applicationId: string }> {
  born += 1;
  const name = `Zuleica Quaresma ${'I'.repeat(born)}`;
  const phone = `+55219123456${String(born).padStart(2, '0')}`;
  const person = newPerson({ name, phone });
  const application = await register(app, person);
  await giveAllButCode(app, application.id);
  for (const status of ['UNDER_ANALYSIS', 'APPROVED']) {
    await app.rows('update onboarding_applications set status = $2 where id = $1', [
      application.id,
      status,
    ]);
  }
  const { email } = person;
  const token = await logIn(app, email);
  const user = { id: application.user_id, email, token };
  await app.listEmail(user);
  return { ...user, person, applicationId: application.id };
}

/** A payment to a key that has been completed by an event that names the payer. */
async function givenPayment(user: TestUser & { person: PersonBody }, key: string): Promise<string> {
  const body = { pix_key: key, amount: 10, description: `de ${user.person.name}` };
  const { transaction_id: id, end_to_end: endToEnd } = (await app.send(user, body)).body;
  const payer = { name: user.person.name, document: user.person.document };
  const { status } = await app.receive(confirmed({ endToEnd, payer }));
  assert.equal(status, 'processed');
  return id;
}

const ownWords = 'Zuleica was deceived.';

/** A dispute of a payment, with the person's own words. */
async function givenDispute({ token }: TestUser, id: string): Promise<void> {
  const body = { situation: 'SCAM', details: ownWords };
  // The simulated bank does not know that the payment is completed.
  assert.equal((await app.call(`/pix/${id}/dispute`, { token, body })).status, 502);
}

/** A loss of commits, for which the statement of the user was read. */
async function givenLoss({ id }: TestUser): Promise<void> {
  await beginPause(app.context, { by: 'ana', reason, lostSince: app.clock.now() });
  const pause = await findPause(app.context);
  assert.ok(pause);
  assert.ok(await endPause(app.context, pause, 'ana'));
  const owed = await findOwedReading(app.context, id);
  assert.ok(owed);
  await storeReading(app.context, id, owed);
  await blockByPayment(app.context, { userId: id, endToEnd: app.newEndToEnd() });
}

/** A day of the user that was reconciled, with a difference. */
async function givenReconciliation({ id }: TestUser): Promise<void> {
  await app.rows(
    `insert into reconciliations (day, user_id, state, reason, tried_at)
     values ('2026-05-01', $1, 'UNREAD', 'NO_SESSION', $2)`,
    [id, app.clock.now()],
  );
  await app.rows(
    `insert into reconciliation_differences (day, user_id, kind, reason, subject, found_at, seen_at)
     values ('2026-05-01', $1, 'UNPROVEN', 'unreadable', 'line', $2, $2)`,
    [id, app.clock.now()],
  );
}

/** @param valor the amount in reais. */
async function payCharge(id: string, valor: string): Promise<void> {
  const { transaction_identification: txid } = await app.stored(id);
  await app.receive({ pix: [{ endToEndId: app.newEndToEnd(), txid, valor }] });
  assert.equal((await app.stored(id)).status, 'COMPLETED');
}

/** The tables that contain a value, whatever the type of the column. */
async function tablesWith(value: string): Promise<string[]> {
  const tables = await app.rows<{ name: string }>(
    `select table_name as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE' order by 1`,
  );
  assert.ok(tables.length >= entities.length);
  const hex = Buffer.from(value).toString('hex');
  const found = await Promise.all(
    tables.map(({ name }) =>
      app.rows(`select 1 from "${name}" row where lower(row::text) ~ lower($1) limit 1`, [
        `${value.replaceAll(/[.+\\]/g, '\\$&')}|${hex}`,
      ]),
    ),
  );
  return tables.flatMap(({ name }, index) => (found[index]?.length ? [name] : []));
}

test('an export has all that is stored, and no secret', async () => {
  const user = await givenPerson();
  const paid = await givenPayment(user, 'ana@example.com');
  await givenDispute(user, paid);
  await givenLoss(user);
  await givenReconciliation(user);
  const lower = { user: user.email, reason, day: 90_000 };
  await setLimits.run(app.context, lower, unwatched);
  await runPonte(app, ['pix', 'show', paid]);
  const { code, stdout, stderr } = await runPonte(app, [
    'subject',
    'export',
    user.email,
    '--reason',
    reason,
  ]);
  assert.equal(code, 0, stderr);
  const { subject } = JSON.parse(stdout);
  const { name, document, phone } = user.person;
  assert.deepEqual(
    [subject.person.id, subject.person.name, subject.person.email, subject.person.document],
    [user.id, name, user.email, document],
  );
  assert.equal(subject.person.phone, phone);
  for (const [list, rows] of Object.entries(subject as Record<string, unknown[]>)) {
    if (list !== 'person') assert.ok(rows.length > 0, `nothing of ${list}`);
  }
  assert.equal(subject.applications[0].address.logradouro, addressBody.logradouro);
  assert.equal(subject.disputes[0].details, ownWords);
  const acts = (subject.operatorActions as { command: string }[]).map(({ command }) => command);
  assert.deepEqual(acts, ['limit set', 'pix show']);
  assert.equal(subject.transactions[0].amount, '10.00');
  const [stored] = await app.rows<{ payee: unknown }>(
    `select payee from pix_transactions where user_id = $1 and operation = 'SEND'`,
    [user.id],
  );
  assert.ok(stored?.payee);
  assert.deepEqual(subject.transactions[0].payee, stored.payee);
  const secrets = await app.rows<{ password_hash: string }>(
    'select password_hash from users where id = $1',
    [user.id],
  );
  const forbidden = [secrets[0]?.password_hash ?? '', user.token, user.applicationId];
  assert.ok(forbidden.every((secret) => secret !== '' && !stdout.includes(secret)));
  assert.doesNotMatch(stdout, /sealed|hash|client_token|digest|fingerprint/);
});

test('an erasure leaves no value of the person in any table, and every payment', async () => {
  const user = await givenPerson();
  const { person } = user;
  const own = await givenPayment(user, user.email);
  const other = await givenPayment(user, 'ana@example.com');
  await givenDispute(user, other);
  const charged = await app.charge(user, { amount: 5, type: 'static' });
  assert.equal(charged.status, 200, JSON.stringify(charged.body));
  await payCharge(charged.body.transaction_id, '5.00');
  const formatted = person.document.replace(/(...)(...)(...)(..)/, '$1.$2.$3-$4');
  const unlinked = await app.receive({ event: 'OPENPIX:TEST', payer: { cpf: formatted } });
  assert.equal(unlinked.status, 'ignored');
  const values = [person.name, user.email, person.document, formatted, person.phone];
  for (const value of values) assert.notDeepEqual(await tablesWith(value), [], value);

  const { code, stdout, stderr } = await runPonte(app, [
    'subject',
    'erase',
    user.email,
    ...decided,
  ]);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /3 documents and 4 payloads of events were removed; 3 transactions stay/);
  for (const value of values) assert.deepEqual(await tablesWith(value), [], value);

  const disputes = await app.rows(
    'select situation, details from pix_disputes where user_id = $1',
    [user.id],
  );
  assert.deepEqual(disputes, [{ situation: 'SCAM', details: null }]);
  const payments = await app.rows(
    `select id, amount, pix_key, status from pix_transactions where user_id = $1 and id = any($2)
      order by created_at, id`,
    [user.id, [own, other]],
  );
  assert.deepEqual(payments, [
    { id: own, amount: '10.00', pix_key: 'erased', status: 'COMPLETED' },
    { id: other, amount: '10.00', pix_key: 'ana@example.com', status: 'COMPLETED' },
  ]);
  const applications = await app.rows(
    'select id from onboarding_applications where id = $1 or user_id = $2',
    [user.applicationId, user.id],
  );
  assert.deepEqual(applications, []);
  const [action] = await app.rows(
    `select command, reason, outcome from operator_actions
      where target = $1 and command = 'subject erase'`,
    [`user:${user.id}`],
  );
  assert.deepEqual(action, { command: 'subject erase', reason, outcome: 'erased' });
});

test('an erasure masks the key in the payments that others have made, and keeps the payee', async () => {
  const [payer, payee] = [await givenPerson(), await givenPerson()];
  const id = await givenPayment(payer, payee.email);
  const { body } = await app.send(payer, { pix_key: payee.person.document, amount: 1 });
  const readPayee = async () =>
    app.rows('select pix_key, payee from pix_transactions where id = $1', [id]);
  const [before] = await readPayee();
  await eraseUser.run(app.context, { user: payee.email, reason }, unwatched);
  assert.deepEqual(await readPayee(), [{ ...before, pix_key: 'erased' }]);
  const [open] = await app.rows<{ pix_key: string }>(
    'select pix_key from pix_transactions where id = $1',
    [body.transaction_id],
  );
  assert.equal(open?.pix_key, payee.person.document, 'an open payment needs it');
});

test('an erased user cannot log in, and may register again', async () => {
  const user = await givenPerson();
  await eraseUser.run(app.context, { user: user.email, reason }, unwatched);
  assert.equal((await app.call('/accounts/me', { token: user.token })).status, 401);
  for (const email of [user.email, `erased-${user.id}@erased.invalid`]) {
    const { status } = await app.call('/auth/login', { body: { email, password } });
    assert.equal(status, 422, email);
  }
  const again = await register(app, user.person);
  assert.notEqual(again.user_id, user.id);
  assert.ok(await logIn(app, user.email));
});

test('a user with an open payment is not erased, and nothing of it is', async () => {
  const user = await givenPerson();
  const { body } = await app.send(user, { pix_key: 'ana@example.com', amount: 1 });
  const erase = () => eraseUser.run(app.context, { user: user.email, reason }, unwatched);
  await refused(erase(), new RegExp(`open payments or charges \\(${body.transaction_id}\\)`));
  assert.equal((await app.call('/accounts/me', { token: user.token })).status, 200);
  await app.receive(confirmed({ endToEnd: body.end_to_end }));
  assert.equal((await erase()).endedSession, true);
});

test('a user with an open charge is not erased until the charge is paid', async () => {
  const user = await givenPerson();
  const { body } = await app.charge(user, { type: 'dynamic', amount: 3 });
  const erase = () => eraseUser.run(app.context, { user: user.email, reason }, unwatched);
  await refused(erase(), new RegExp(`open payments or charges \\(${body.transaction_id}\\)`));
  await payCharge(body.transaction_id, '3.00');
  assert.equal((await erase()).transactions, 1);
});

test('a user with an open dispute is not erased until it has ended', async () => {
  const user = await givenPerson();
  const id = await givenPayment(user, 'ana@example.com');
  const asked = { userId: user.id, id, situation: 'SCAM', details: null } as const;
  assert.ok(await storeRequest(app.context, { ...asked, paidSince: new Date(0) }));
  const report = async (status: 'OPEN' | 'REJECTED'): Promise<void> => {
    await storeDisputeReport(app.context, { disputeId: id, endToEnd: null, status });
  };
  const erase = () => eraseUser.run(app.context, { user: user.email, reason }, unwatched);
  await refused(erase(), new RegExp(`open disputes \\(${id}\\)`));
  await report('OPEN');
  await refused(erase(), new RegExp(`open disputes \\(${id}\\)`));
  assert.equal((await app.call('/accounts/me', { token: user.token })).status, 200);
  await report('REJECTED');
  assert.equal((await erase()).transactions, 1);
});

test('an unpaid static code ends at the erasure, and what is paid by it later is nobody’s', async () => {
  const user = await givenPerson();
  const { body } = await app.charge(user, { type: 'static', amount: 7 });
  const id: string = body.transaction_id;
  await eraseUser.run(app.context, { user: user.email, reason }, unwatched);
  const { status, failure_code: failureCode } = await app.stored(id);
  assert.deepEqual([status, failureCode], ['FAILED', 'CHARGE_EXPIRED']);
  const { transaction_identification: txid } = await app.stored(id);
  const event = { endToEndId: app.newEndToEnd(), txid, valor: '7.00', chave: user.email };
  const paid = await app.receive({ pix: [event] });
  assert.notEqual(paid.status, 'processed');
  assert.equal((await app.stored(id)).status, 'FAILED');
  const { stdout } = await runPonte(app, ['pix', 'audit']);
  assert.ok(!stdout.includes(id), stdout);
});

test('a name in the description of another customer stays, and the operator is told', async () => {
  const [payer, payee] = [await givenPerson(), await givenPerson()];
  const description = `aluguel de ${payee.person.name.toUpperCase()}`;
  const sent = await app.send(payer, { pix_key: 'ana@example.com', amount: 3, description });
  const id: string = sent.body.transaction_id;
  await app.receive(confirmed({ endToEnd: sent.body.end_to_end }));
  const { code, stderr } = await runPonte(app, ['subject', 'erase', payee.email, ...decided]);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /1 payments of other customers may name the person in their description/);
  assert.equal((await app.stored(id)).description, description);
});

test('the name is found without its accents and with other blanks', async () => {
  const [payer, payee] = [await givenPerson(), await givenPerson()];
  await app.rows(`update users set name = 'Verônica Assunção' where id = $1`, [payee.id]);
  for (const name of [
    'Veronica Assuncao',
    'verônica  assunção',
    'VERÔNICA ASSUNÇÃO'.normalize('NFD'),
  ]) {
    const description = `aluguel de ${name}`;
    const sent = await app.send(payer, { pix_key: 'ana@example.com', amount: 3, description });
    await app.receive(confirmed({ endToEnd: sent.body.end_to_end }));
  }
  const { code, stderr } = await runPonte(app, ['subject', 'erase', payee.email, ...decided]);
  assert.equal(code, 0, stderr);
  assert.match(stderr, /3 payments of other customers may name the person in their description/);
});

test('an event that is not settled keeps its payload, and is named', async () => {
  const user = await givenPerson();
  const payer = { document: user.person.document };
  const parked = await app.receive(confirmed({ endToEnd: app.newEndToEnd(), payer }));
  assert.equal(parked.status, 'parked');
  const { stderr } = await runPonte(app, ['subject', 'erase', user.email, ...decided]);
  assert.match(stderr, new RegExp(`not settled name the person: ${parked.eventId};`));
});

test('it is refused without a reason, for no user, and a second time', async () => {
  const user = await givenPerson();
  for (const op of [exportSubject, eraseUser]) {
    await refused(
      op.run(app.context, { user: user.email, reason: ' ' }, unwatched),
      /a reason/,
      'INVALID',
    );
    const unknownUser = op.run(app.context, { user: '999999', reason }, unwatched);
    await refused(unknownUser, /no user/, 'NOT_FOUND');
  }
  const unconfirmed = await runPonte(app, ['subject', 'erase', user.email, '--reason', reason]);
  assert.equal(unconfirmed.code, 2);
  await eraseUser.run(app.context, { user: String(user.id), reason }, unwatched);
  const twice = eraseUser.run(app.context, { user: String(user.id), reason }, unwatched);
  await refused(twice, /erased already/);
});

test('the handbook says of every table why and how long it is kept', async () => {
  const handbook = join(import.meta.dirname, '../../../src/operator/README.md');
  const text = await readFile(handbook, 'utf8');
  const rows = text.split('\n').filter((line) => line.startsWith('  | `'));
  for (const { meta } of entities) {
    const { tableName } = meta;
    assert.ok(
      rows.some((row) => row.includes(`\`${tableName}\``)),
      tableName,
    );
  }
});
