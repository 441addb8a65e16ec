/** One prepared statement for each text, whatever the sessions call it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { KeptPlans } from '../../support/kept-plans.ts';

type Answers = Awaited<ReturnType<PGlite['execProtocolStream']>>;

function message(type: string, ...texts: readonly string[]): Buffer {
  const body = Buffer.from(texts.map((text) => `${text}\0`).join(''));
  const head = Buffer.from(`${type}....`);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const parse = (name: string, text: string): Buffer => message('P', name, text);
const bind = (name: string): Buffer => message('B', '', name);

const parsed = { name: 'parseComplete', length: 5 } as const;
const bound = { name: 'bindComplete', length: 5 } as const;

/** A database that takes every message, and what it was sent. */
function database(answers: Answers = [parsed, bound]) {
  const sent: string[] = [];
  const plans = new KeptPlans();
  const session = () => {
    const run = plans.session(async (batch) => {
      sent.push(Buffer.from(batch).toString('latin1'));
      return answers;
    });
    return (...messages: readonly Buffer[]) => run(Buffer.concat(messages));
  };
  return { session, sent };
}

const text = (...messages: readonly Buffer[]): string => Buffer.concat(messages).toString('latin1');

test('a text is parsed once for all sessions, with a name or without', async () => {
  const { session, sent } = database();
  const [one, other] = [session(), session()];
  await one(parse('', 'select 1'), bind(''));
  await other(parse('mine', 'select 1'), bind('mine'));
  await other(bind('mine'));
  assert.deepEqual(sent, [
    text(parse('kept_1', 'select 1'), bind('kept_1')),
    text(bind('kept_1')),
    text(bind('kept_1')),
  ]);
});

test('a session is told that a statement is parsed, also when it was before', async () => {
  const { session } = database();
  await session()(parse('', 'select 1'), bind(''));
  const answers = await session()(parse('', 'select 1'), bind(''));
  assert.equal(answers[0]?.name, 'parseComplete');
});

test('a session has one text under a name: a second one is refused by the database', async () => {
  const { session, sent } = database();
  const run = session();
  await run(parse('mine', 'select 1'), bind('mine'));
  await run(parse('mine', 'select 2'), bind('mine'));
  assert.equal(sent[1], text(parse('kept_1', 'select 2'), bind('kept_1')));
});

test('a statement that could not be parsed is parsed again', async () => {
  const { session, sent } = database([]);
  const run = session();
  for (let time = 0; time < 2; time += 1) await run(parse('', 'select x'), bind(''));
  assert.deepEqual(
    sent.map((batch) => batch.startsWith('P')),
    [true, true],
  );
});

test('every text is parsed again after a change of the schema', async () => {
  for (const change of [message('Q', 'alter table users add x int'), parse('', 'drop table x')]) {
    const { session, sent } = database();
    const run = session();
    await run(parse('', 'select * from users'), bind(''));
    await run(change);
    await run(parse('', 'select * from users'), bind(''));
    assert.ok(sent[2]?.startsWith('P'), change.toString('latin1'));
  }
});
