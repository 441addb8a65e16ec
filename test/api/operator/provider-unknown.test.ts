/** Responses that no listed code explains: who waits for them, and how they end without a loop. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { startPixApp, type StoredPix } from '../pix/pix-app.ts';
import { acceptance, startScriptedBank, type ScriptedResponse } from '../pix/scripted-bank.ts';
import { eventually } from '../../support/eventually.ts';
import { calendarDay } from '../../../src/domain/calendar.ts';
import { givenCustomer, type TestUser } from '../../support/factories.ts';
import { loseAcknowledgement } from '../../support/intercepted.ts';
import { runPonte } from './command-line.ts';

/** A dialect that has nothing but the code of a bank. */
const ownCodes = join(mkdtempSync(join(tmpdir(), 'ponte-codes-')), 'own.yaml');
writeFileSync(ownCodes, 'source: bulletin 9\nnot_executed: {E9: bulletin 9}\n');

const bank = await startScriptedBank();
const environment = {
  ...bank.environment,
  PROVIDER_RETRIES: '1',
  PROVIDER_DIALECTS: 'ponte,bacen',
  PROVIDER_DIALECT_FILES: ownCodes,
};
const app = await startPixApp({ bank: {} as never, environment });

const minuteMs = 60_000;

const ponte = (...argv: string[]) => runPonte(app, argv, { environment });

async function ponteJson(...argv: string[]) {
  const { stdout, stderr, code } = await ponte(...argv, '--json');
  assert.ok(stdout !== '', stderr);
  return { code, result: JSON.parse(stdout) };
}

async function file(name: string, text: string): Promise<string> {
  const path = join(app.database.dataDir, `${randomUUID()}-${name}`);
  await writeFile(path, text);
  return path;
}

/** Sends whose payments are answered so, in turn. */
async function send(user: TestUser, ...responses: readonly ScriptedResponse[]) {
  let attempts = 0;
  bank.onPayment = (payment) => responses[attempts++] ?? acceptance(payment);
  const body = { pix_key: 'ana@example.com', amount: 10 };
  const sent = await app.throughTime(app.send(user, body));
  assert.equal(sent.body.status, 'PROCESSING');
  return app.stored(sent.body.transaction_id);
}

const refused = (code: string, status = 422): ScriptedResponse => ({ status, body: { code } });
const gateway = { status: 403, type: 'text/html', body: '<html>blocked</html>' } as const;

const post = (event: object) => app.call('/webhooks/provider', { method: 'POST', body: event });

const line = ({ end_to_end: endToEnd }: { readonly end_to_end: string | null }) => ({
  endToEnd,
  amount: 10,
  type: 'PIX_PAYMENT_OUT',
  status: 'CONFIRMED',
});

const statement = (...lines: readonly object[]): void => {
  bank.onStatement = () => ({ status: 200, body: lines });
};

describe('ponte provider unknown', () => {
  it('lists each status and code of open payments, with those that wait for it', async () => {
    const user = await givenCustomer(app);
    const first = await send(user, refused('E42'));
    const second = await send(user, refused('E42'));
    const blocked = await send(user, gateway);
    const { result } = await ponteJson('provider', 'unknown');
    const [codes, none] = result.answers;
    assert.deepEqual(
      [codes.httpStatus, codes.code, codes.payments, codes.transactionIds],
      [422, 'E42', 2, [first.id, second.id]],
    );
    assert.deepEqual([none.httpStatus, none.code], [403, null]);
    assert.deepEqual(none.transactionIds, [blocked.id]);
    const { stdout } = await ponte('provider', 'unknown');
    assert.match(stdout, /^STATUS +CODE +PAYMENTS/);
    assert.ok(stdout.includes(blocked.id));
    assert.match((await ponte('pix', 'show', first.id)).stdout, /UNKNOWN +1 +4xx +422 +E42/);
    assert.match((await ponte('doctor')).stdout, /unlisted codes.*2/);
    const metrics = await app.context.metrics.registry.metrics();
    assert.match(metrics, /unknown_answers_total\{status="422",code="E42"\} 2/);
    assert.match(metrics, /unknown_answers_total\{status="403",code="none"\} 1/);
  });

  it('counts an attempt once whose response was noted twice', async (t) => {
    const user = await givenCustomer(app);
    loseAcknowledgement(t, app.context.db, 'pix-move');
    const noted = await send(user, { status: 500, body: {} }, refused('E78'));
    const timeline = await app.timeline(noted.id);
    assert.deepEqual(timeline.slice(-2), ['UNKNOWN 2 4xx', 'UNKNOWN 2 4xx']);
    statement();
    await app.clock.skip(60 * minuteMs);
    const path = await file('twice.yaml', 'not_executed:\n  E78: bulletin 12 of the bank\n');
    const { result } = await ponteJson('provider', 'unknown', '--try', path);
    assert.deepEqual(result.payments, []);
    const decision = ['--apply', '--by', 'ana', '--reason', 'bulletin 12', '--yes'];
    const applied = await ponte('provider', 'unknown', '--try', path, ...decision);
    assert.deepEqual(
      [applied.code, applied.stdout, applied.stderr],
      [0, '', 'The codes account for no open payment.\n'],
    );
  });

  it('shows what a table with a code would settle, and settles it only with --apply', async () => {
    const [user, away] = [await givenCustomer(app), await givenCustomer(app)];
    const refusedOne = await send(user, refused('E77'));
    const paid = await send(user, refused('E77'));
    const twice = await send(user, { status: 500, body: {} }, refused('E77'));
    const unavailable = await send(user, refused('E77', 503), refused('E77'));
    const ofAway = await send(away, refused('E77'));
    await app.call('/auth/logout', { method: 'POST', token: away.token });
    statement();
    await app.clock.skip(60 * minuteMs);
    statement(line(paid));
    const path = await file('codes.yaml', 'not_executed:\n  E77: bulletin 12 of the bank\n');
    const results = async (...options: string[]) => {
      const tried = await ponteJson('provider', 'unknown', '--try', path, ...options);
      return Object.fromEntries(
        tried.result.payments.map((one: { id: string; result: string; reason: string | null }) => [
          one.id,
          [one.result, one.reason],
        ]),
      );
    };
    const open = {
      [paid.id]: ['open', 'the statement shows it'],
      [ofAway.id]: ['open', 'the statement was not read: the user has no active session'],
    };
    assert.deepEqual(await results(), {
      [refusedOne.id]: ['would_fail', null],
      ...open,
    });
    assert.equal((await app.stored(refusedOne.id)).status, 'PROCESSING');
    const unnamed = await ponte('provider', 'unknown', '--try', path, '--apply', '--yes');
    assert.deepEqual(
      [unnamed.code, unnamed.stderr],
      [2, 'ponte: --apply needs --by and --reason\n'],
    );
    const settled = await results('--apply', '--by', 'ana', '--reason', 'bulletin 12', '--yes');
    assert.deepEqual(settled, {
      [refusedOne.id]: ['failed', null],
      ...open,
    });
    const { status, outcome, failure_code: failure } = await app.stored(refusedOne.id);
    assert.deepEqual([status, outcome, failure], ['FAILED', 'rejected', 'OPERATOR_DECISION']);
    assert.match((await app.timeline(refusedOne.id)).at(-1) ?? '', /operator .*bulletin 12/);
    for (const { id } of [paid, ofAway, twice, unavailable]) {
      assert.equal((await app.stored(id)).status, 'PROCESSING');
    }
    const actions = await app.rows('select from operator_actions where target = $1', [
      `pix:${refusedOne.id}`,
    ]);
    assert.equal(actions.length, 1);
    assert.deepEqual(await results('--apply', '--by', 'ana', '--reason', 'again', '--yes'), open);
  });

  it('takes only payments whose outcome has been unknown for an hour', async () => {
    const user = await givenCustomer(app);
    const { id } = await send(user, refused('E76'));
    statement();
    const path = await file('codes.yaml', 'E76: bulletin 11');
    const from = new Date(app.clock.now().getTime() + 60 * minuteMs);
    const tryIt = ['provider', 'unknown', '--try', path];
    const apply = ['--apply', '--by', 'ana', '--reason', 'bulletin 11', '--yes'];
    const own = async (...options: string[]) => {
      const { result } = await ponteJson(...tryIt, ...options);
      return result.payments.find((one: { id: string }) => one.id === id);
    };
    const reason = 'its outcome has been unknown for less than an hour';
    const young = { id, code: 'E76', result: 'too_young', reason, takenFrom: from.toISOString() };
    assert.deepEqual(await own(), young);
    await app.clock.skip(60 * minuteMs - 1);
    assert.deepEqual(await own(...apply), young);
    assert.equal((await app.stored(id)).status, 'PROCESSING');
    const at = from.toISOString().slice(0, 19).replace('T', ' ');
    const { stdout } = await ponte(...tryIt);
    assert.match(stdout, new RegExp(`${id} +E76 +too young +${reason}: try it from ${at}Z`));
    await app.clock.advance(1);
    assert.equal((await own(...apply)).result, 'failed');
  });

  it('leaves open what a line until now may be, with its request id, its amount or its id', async () => {
    const user = await givenCustomer(app);
    const [first, second, third] = [
      await send(user, refused('E80')),
      await send(user, refused('E80')),
      await send(user, refused('E80')),
    ];
    await app.clock.skip(60 * minuteMs);
    await app.rows(
      `update pix_transactions set created_at = created_at - interval '4 days' where user_id = $1`,
      [user.id],
    );
    const today = calendarDay(app.clock.now());
    const path = await file('codes.yaml', 'E80: bulletin 14');
    const tryIt = async (...lines: readonly object[]) => {
      bank.onStatement = (asked) => {
        const isAsked = (asked.get('endDate') ?? '') >= today;
        return { status: 200, body: isAsked ? lines : [] };
      };
      const { result } = await ponteJson('provider', 'unknown', '--try', path);
      const tried: { id: string; result: string; reason: string | null }[] = result.payments;
      return [first, second, third].map(({ id }) => tried.find((one) => one.id === id)?.reason);
    };
    const similar = 'a debit of its amount may be it';
    assert.deepEqual(await tryIt(), [null, null, null]);
    assert.deepEqual(await tryIt(line(third)), [null, null, 'the statement shows it']);
    assert.deepEqual(await tryIt({ ...line(first), endToEnd: undefined }), Array(3).fill(similar));
    const renamed = { ...line({ end_to_end: 'E99999999202605241200abcdefghijk' }), amount: 9 };
    const [{ key } = {}] = await app.rows<{ key?: string }>(
      'select idempotency_key as key from pix_transactions where id = $1',
      [second.id],
    );
    const ofKey = { ...renamed, clientRequestId: key };
    assert.deepEqual(await tryIt(ofKey), [null, 'the statement shows it', null]);
  });

  it('settles nothing by a statement that cannot be read whole', async () => {
    const user = await givenCustomer(app);
    const { id } = await send(user, refused('E78'));
    await app.clock.skip(60 * minuteMs);
    bank.onStatement = () => ({ status: 200, body: { items: [], page: 1, totalPages: 2 } });
    const path = await file('codes.yaml', 'E78: bulletin 13');
    const { result } = await ponteJson('provider', 'unknown', '--try', path);
    const own = result.payments.find((one: { id: string }) => one.id === id);
    assert.equal(own.result, 'open');
    assert.match(own.reason, /^the statement was not read: the provider did not give all of it/);
  });

  it('counts no code of a response about another payment, or that contradicts itself', async () => {
    const other = { endToEnd: 'E-other', code: 'E79' };
    const user = await givenCustomer(app);
    const sent = [
      await send(user, { status: 422, body: other }),
      await send(user, { status: 200, body: { ...other, status: 'ERROR' } }),
      await send(user, {
        status: 200,
        body: { clientRequestId: 'other', status: 'ERROR', code: 'E79' },
      }),
      await send(user, { status: 422, body: { status: 'CONFIRMED', code: 'E79' } }),
    ];
    statement();
    const path = await file('codes.yaml', 'E79: bulletin 14');
    const { result } = await ponteJson('provider', 'unknown', '--try', path);
    const tried = result.payments.map(({ id }: { id: string }) => id);
    assert.deepEqual(
      sent.filter(({ id }) => tried.includes(id)),
      [],
    );
  });

  it('takes the codes of a dialect, and says of one without codes that it has none', async () => {
    const { id } = await send(await givenCustomer(app), refused('REACH_TRANSFER_LIMIT'));
    statement();
    await app.clock.skip(60 * minuteMs);
    const dialects = join(import.meta.dirname, '../../../contract/provider/dialects');
    const woovi = join(dialects, 'woovi.yaml');
    const { result } = await ponteJson('provider', 'unknown', '--try', woovi);
    const own = result.payments.find((one: { id: string }) => one.id === id);
    assert.deepEqual([own?.code, own?.result], ['REACH_TRANSFER_LIMIT', 'would_fail']);
    const without = await ponte('provider', 'unknown', '--try', join(dialects, 'bacen.yaml'));
    assert.equal(without.code, 2);
    assert.match(without.stderr, /it has no lines of the form CODE: source/);
  });

  it('names every fault of a table', async () => {
    const path = await file('codes.yaml', 'E1:\n"Maria da Silva": x\n');
    const { code, stderr } = await ponte('provider', 'unknown', '--try', path);
    assert.equal(code, 2);
    assert.match(stderr, /code 1 has no source/);
    assert.match(stderr, /code 2 is not/);
    assert.ok(!stderr.includes('Maria'));
  });
});

describe('a failure of a payment that was repeated in doubt', () => {
  const failure = {
    event: 'PIX_PAYMENT_OUT',
    status: 'ERROR',
    amount: 10,
    error: { code: 'AC03' },
  };

  it('counts the codes of an active dialect, in responses and in events', async () => {
    const user = await givenCustomer(app);
    bank.onPayment = () => refused('E9');
    const body = { pix_key: 'ana@example.com', amount: 10 };
    const { status, headers } = await app.throughTime(app.send(user, body));
    assert.deepEqual([status, headers.get('pix-outcome')], [502, 'rejected']);
    const { id, end_to_end: endToEnd } = await send(user, refused('E42'));
    await post({ ...failure, error: { code: 'E9' }, endToEnd });
    assert.equal((await app.settled(id)).status, 'FAILED');
  });

  const doubted: Readonly<Record<string, readonly ScriptedResponse[]>> = {
    // Only a refusal proves something: the first attempt may have been executed.
    'an attempt has a listed code in a 503': [refused('AC03', 503), refused('AC03')],
    'an attempt has no code': [{ status: 500, body: {} }, refused('AC03')],
    'the last attempt has an unlisted code': [refused('AC03', 503), refused('E42')],
    'the last attempt was accepted': [refused('AC03', 503)],
  };
  for (const [title, responses] of Object.entries(doubted)) {
    it(`does not end it where ${title}`, async () => {
      const user = await givenCustomer(app);
      const { id, end_to_end: endToEnd } = await send(user, ...responses);
      await post({ ...failure, endToEnd });
      assert.deepEqual(await app.resultsFor(id, 1), ['anomaly']);
      assert.ok((await app.timeline(id)).includes('ANOMALY failed_after_repeat event'));
      assert.equal((await app.stored(id)).status, 'PROCESSING');
    });
  }
});

describe('ponte pix resolve --from', () => {
  const resolve = (path: string, ...options: string[]) =>
    ponteJson('pix', 'resolve', '--from', path, '--by', 'ana', '--reason', 'list 7', ...options);

  it('names every faulty line, and changes nothing', async () => {
    const user = await givenCustomer(app);
    const { id } = await send(user, gateway);
    const path = await file(
      'ends.csv',
      `id,as\n${id},completed\n${id},failed\nMaria,paid\n1,2,3\n`,
    );
    const list = ['pix', 'resolve', '--from', path, '--reason', 'list', '--by', 'ana', '--yes'];
    const { code, stderr } = await ponte(...list);
    assert.equal(code, 2);
    for (const number of [3, 4, 5]) assert.match(stderr, new RegExp(`line ${number}:`));
    assert.ok(!stderr.includes('Maria'));
    assert.equal((await app.stored(id)).status, 'PROCESSING');
  });

  it('checks first, then resolves by both ids, records each, and resumes', async () => {
    const user = await givenCustomer(app);
    const [paid, failed, gone] = [
      await send(user, gateway),
      await send(user, gateway),
      randomUUID(),
    ];
    const path = await file(
      'ends.jsonl',
      [
        JSON.stringify({ end_to_end: paid.end_to_end, as: 'completed' }),
        JSON.stringify({ id: failed.id.toUpperCase(), as: 'FAILED' }),
        JSON.stringify({ id: gone, as: 'failed' }),
      ].join('\n'),
    );
    const unconfirmed = await ponte('pix', 'resolve', '--from', path, '--reason', 'x', '--yes');
    assert.equal(unconfirmed.code, 2);
    assert.match(unconfirmed.stderr, /--confirm 'money may have moved'/);
    const confirm = ['--yes', '--confirm', 'money may have moved'];
    // The list of the bank is the confirmation: no statement is read for it.
    statement(line(failed));
    const first = await resolve(path, ...confirm);
    const words = (run: typeof first) =>
      run.result.results.map((one: { result: string }) => one.result);
    assert.deepEqual([first.code, words(first)], [1, ['resolved', 'resolved', 'refused']]);
    assert.equal((await app.stored(paid.id)).status, 'COMPLETED');
    assert.equal((await app.stored(failed.id)).status, 'FAILED');
    for (const { id } of [paid, failed]) {
      const actions = await app.rows<{ outcome: string }>(
        'select outcome from operator_actions where target = $1',
        [`pix:${id}`],
      );
      const { status } = await app.stored(id);
      assert.deepEqual(actions, [{ outcome: `${status}; list of the bank` }]);
    }
    assert.deepEqual(words(await resolve(path, ...confirm)), ['already', 'already', 'refused']);
  });
});

it("an hour of a gateway's 403 ends by events, statement and the list of the bank", async () => {
  const users = await Promise.all(Array.from({ length: 3 }, () => givenCustomer(app)));
  const sends: StoredPix[] = [];
  for (let minute = 0; minute < 60; minute += 20) {
    for (const user of users) sends.push(await send(user, gateway));
    await app.clock.skip(20 * minuteMs);
  }
  assert.equal(sends.length, 9);
  const waiting = async () => {
    const { result } = await ponteJson('provider', 'unknown');
    const blocked = result.answers.find((one: { httpStatus: number }) => one.httpStatus === 403);
    return sends.filter(({ id }) => blocked?.transactionIds.includes(id)).length;
  };
  const open = async () => {
    const rows = await app.rows(
      `select id from pix_transactions where id = any($1) and status = 'PROCESSING'`,
      [sends.map(({ id }) => id)],
    );
    return rows.length;
  };
  assert.equal(await open(), 9);
  assert.equal(await waiting(), 9);

  const [byEvent, byStatement, byList] = [sends.slice(0, 3), sends.slice(3, 6), sends.slice(6)];
  for (const { end_to_end: endToEnd } of byEvent) {
    await post({ event: 'PIX_PAYMENT_OUT', status: 'CONFIRMED', amount: 10, endToEnd });
  }
  await eventually(async () => (await open()) === 6, 'the events');
  statement(...byStatement.map(line));
  await eventually(async () => {
    await app.clock.advance(minuteMs);
    return (await open()) <= 3;
  }, 'the statement');
  assert.equal(await open(), 3);

  const path = await file('ends.csv', byList.map(({ id }) => `${id},failed`).join('\n'));
  const confirmed = ['--yes', '--confirm', 'money may have moved'];
  const by = ['--by', 'ana', '--reason', 'confirmed by the bank'];
  const { code } = await ponte('pix', 'resolve', '--from', path, ...by, ...confirmed);
  assert.equal(code, 0);
  assert.equal(await open(), 0);
  assert.equal(await waiting(), 0);
});
