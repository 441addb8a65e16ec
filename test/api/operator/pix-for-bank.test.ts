/** The list of orders that only the bank can end: out as a file, and back with its answers. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readCsvCells, separatorOf, writeCsvLine } from '../../../bin/csv.ts';
import { readEnds } from '../../../bin/pix-resolve-file.ts';
import { startSettlingApp } from '../jobs/settling.ts';
import { withReturns } from '../pix/return-app.ts';
import { givenCustomer } from '../../support/factories.ts';
import { runPonte } from './command-line.ts';

const settling = await startSettlingApp();
const app = withReturns(settling, async () => {
  for (const id of await settling.unsettled()) await settling.settle(id);
});

const hourMs = 60 * 60_000;

const list = (...options: string[]) =>
  runPonte(app, ['pix', 'list', '--open-with-the-bank', ...options]);

async function listed(): Promise<string[]> {
  const { orders } = JSON.parse((await list('--json')).stdout);
  return orders.map(({ id }: { id: string }) => id);
}

const newFile = () => join(app.database.dataDir, `${randomUUID()}.csv`);

async function givenSend(pixKey: string, key?: string) {
  const user = await givenCustomer(app);
  const body = { pix_key: pixKey, amount: 10.5 };
  const request = key === undefined ? {} : { key };
  const sent = await app.throughTime(app.send(user, body, request));
  assert.equal(sent.body.status, 'PROCESSING', JSON.stringify(sent.body));
  return app.stored(sent.body.transaction_id);
}

/** A return that the bank has accepted, and reports no end of. */
async function givenReturn(): Promise<string> {
  const user = await givenCustomer(app);
  const received = await app.givenReceived(user);
  const { body } = await app.giveBack(user, received.id, 5);
  return String(body.transaction_id);
}

it('lists sends and returns, accepted or unknown, 36 hours after their last attempt', async () => {
  const accepted = await givenSend('silent@ponte.test');
  const unknown = await givenSend('lost@ponte.test');
  const returned = await givenReturn();
  const again = await givenSend('silent@ponte.test');
  await app.clock.advance(hourMs);
  await app.rows(
    `insert into pix_timeline (transaction_id, phase, attempt, at) values ($1, 'PAYING', 2, $2)`,
    [again.id, app.clock.now()],
  );
  await app.clock.advance(34 * hourMs);
  assert.deepEqual(await listed(), []);
  await app.clock.advance(hourMs);
  assert.deepEqual(await listed(), [accepted.id, unknown.id, returned]);
  await app.clock.advance(hourMs);
  assert.deepEqual(await listed(), [accepted.id, unknown.id, returned, again.id]);
  const { stdout } = await list();
  assert.match(stdout, /^ID +USER +TYPE +AMOUNT +PHASE +LAST ATTEMPT +END-TO-END ID/);
  assert.match(stdout, new RegExp(`${unknown.id} .*UNKNOWN .* ${unknown.end_to_end}`));
  const cut = await list('--limit', '2');
  assert.match(cut.stderr, /There may be more: set a greater --limit, or write all of them/);
});

it('goes to the bank as a file, and comes back with its answers', async () => {
  const key = '=1+1;x';
  const madeAt = app.clock.now().toISOString();
  const paid = await givenSend('silent@ponte.test', key);
  const failed = await givenSend('lost@ponte.test');
  const returned = await givenReturn();
  const unanswered = await givenSend('silent@ponte.test');
  await app.clock.advance(37 * hourMs);
  const file = newFile();
  const { code, stdout } = await list('--file', file);
  assert.equal(code, 0);
  assert.match(stdout, /^\d+ orders are in .*\. The bank fills its last column/);
  assert.ok(stdout.includes(`ponte pix resolve --from ${file}`));
  assert.equal((await stat(file)).mode & 0o777, 0o600);

  const [heading = '', ...lines] = (await readFile(file, 'utf8')).trimEnd().split('\n');
  assert.equal(heading, 'end_to_end,request_id,amount,created_at,agency,account_number,outcome');
  const lineOf = (endToEnd: string | null): string =>
    lines.find((line) => line.startsWith(`${endToEnd},`)) ?? '';
  // A spreadsheet runs no request id.
  const start = `${paid.end_to_end},"'${key}",10.50,${madeAt},`;
  assert.ok(lineOf(paid.end_to_end).startsWith(start), lineOf(paid.end_to_end));
  assert.match(lineOf(paid.end_to_end), /,0001,\d+,$/);
  const { end_to_end: returnId } = await app.stored(returned);
  assert.match(returnId ?? '', /^D/);
  const people = await app.rows<{ name: string; email: string; document: string | null }>(
    'select name, email, document from users',
  );
  for (const { name, email, document } of people) {
    for (const text of [name, email, document ?? name]) assert.ok(!lines.join().includes(text));
  }
  assert.ok(!lines.join().includes('ponte.test'));

  const answers = [
    `${lineOf(paid.end_to_end)}completed`,
    `${lineOf(failed.end_to_end)}FAILED`,
    `${lineOf(returnId)}failed`,
    lineOf(unanswered.end_to_end),
  ];
  const back = newFile();
  await writeFile(back, [heading, ...answers].join('\r\n'));
  const resolve = ['pix', 'resolve', '--from', back, '--by', 'ana', '--reason', 'list 7'];
  const confirmed = ['--yes', '--confirm', 'money may have moved'];
  const resolved = await runPonte(app, [...resolve, ...confirmed]);
  assert.equal(resolved.code, 0, resolved.stderr);
  assert.match(resolved.stderr, /^1 line has no end yet: it stays open\.$/m);
  assert.equal(resolved.stdout, '3 resolved.\n');
  const statuses = await Promise.all(
    [paid.id, failed.id, returned, unanswered.id].map(async (id) => (await app.stored(id)).status),
  );
  assert.deepEqual(statuses, ['COMPLETED', 'FAILED', 'FAILED', 'PROCESSING']);
  assert.ok((await listed()).includes(unanswered.id));
  assert.ok(!(await listed()).includes(paid.id));
});

it('records that the accounts were read, and overwrites no file', async () => {
  const { id } = await givenSend('silent@ponte.test');
  await app.clock.advance(37 * hourMs);
  const reads = () =>
    app.rows<{ command: string; outcome: string }>(
      'select command, outcome from operator_actions where target = $1',
      [`pix:${id}`],
    );
  const file = newFile();
  await writeFile(file, 'mine');
  const refused = await list('--file', file);
  assert.deepEqual(
    [refused.code, refused.stderr],
    [2, `ponte: ${file} exists already: name another file\n`],
  );
  assert.equal(await readFile(file, 'utf8'), 'mine');
  assert.ok((await listed()).includes(id));
  assert.deepEqual(await reads(), []);
  const { stdout } = await list('--json', '--file', newFile());
  assert.ok(JSON.parse(stdout).orders > 0);
  const read = { command: 'pix list --open-with-the-bank --file', outcome: 'read' };
  assert.deepEqual(await reads(), [read]);
});

it('is one list, and has its own file only', async () => {
  for (const [line, says] of [
    [['--open-with-the-bank', '--stuck'], /takes no filter/],
    [['--open-with-the-bank', '--user', '7'], /takes no filter/],
    [['--file', 'x.csv'], /--file needs --open-with-the-bank/],
  ] as const) {
    const { code, stderr } = await runPonte(app, ['pix', 'list', ...line]);
    assert.equal(code, 2);
    assert.match(stderr, says);
  }
});

describe('the cells of a line', () => {
  it('come back as they were written', () => {
    for (const cells of [
      ['a', '', '0001'],
      ['a,b', 'c;d', 'e"f'],
      ['"', '""', ' '.trim()],
    ]) {
      assert.deepEqual(readCsvCells(writeCsvLine(cells), ','), cells);
    }
    assert.deepEqual(readCsvCells(' "a" ; b ;"c"";d"', ';'), ['a', 'b', 'c";d']);
    assert.equal(separatorOf('"a;b",c'), ',');
  });

  it('run no formula', () => {
    assert.equal(writeCsvLine(['=A1', '+1', '-1', '@x', 'a=b']), "'=A1,'+1,'-1,'@x,a=b");
  });
});

describe('a file of ends', () => {
  const [one, other] = [randomUUID(), `D11165756202605241200${'a'.repeat(11)}`];

  it('may have columns beside the id and the end, in any order, with semicolons', () => {
    const text = `outcome;note;end_to_end\ncompleted;"a;b";${one}\n;x;${other}\n`;
    const entries = [{ line: 2, name: one, as: 'completed' }];
    assert.deepEqual(readEnds(text), { entries, unanswered: 1, faults: [] });
  });

  it('names a line that has not the columns of its heading, or another end', () => {
    const { faults } = readEnds(`id,note,outcome\n${one},completed\n${other},x,maybe\n`);
    assert.deepEqual(faults, [
      'line 2: it has 2 columns instead of 3 as its heading',
      'line 3: the end is neither completed nor failed',
    ]);
  });

  it('names a line of one column', () => {
    const { faults } = readEnds(`${one}\n`);
    assert.deepEqual(faults, ['line 1: it has 1 column instead of 2: id, completed or failed']);
  });

  it('with two columns has an end in each line', () => {
    assert.equal(readEnds(`id,as\n${one},\n`).faults.length, 1);
  });
});
