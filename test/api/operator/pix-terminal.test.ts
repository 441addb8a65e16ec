/** The operators' commands as they are typed: what is printed, and how they end. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { newEndToEndId } from '../../../src/domain/pix.ts';
import { production } from '../../support/config.ts';
import { eventually } from '../../support/eventually.ts';
import { queueJob } from '../jobs/loops.ts';
import { confirmed, startSettlingApp } from '../jobs/settling.ts';
import { runPonte, type Typed } from './command-line.ts';

const app = await startSettlingApp();
const type = (line: string, typed?: Typed) => runPonte(app, line.split(' '), typed);

const nobodys = () => newEndToEndId('11165756', app.clock.now());

/** The result of a command with `--json`; its other lines are not on standard output. */
async function typedJson(line: string, typed?: Typed) {
  const { stdout, code } = await type(`${line} --json`, typed);
  return { code, result: JSON.parse(stdout) };
}

describe('ponte pix', () => {
  it('says that no payment is stuck only where all were asked for', async () => {
    const nothing = await type('pix list --stuck');
    assert.deepEqual(nothing, { code: 0, stdout: '', stderr: 'No payment is stuck.\n' });
  });

  it('lists and shows as a table and as JSON', async () => {
    const { id, end_to_end: endToEnd } = await app.givenSend();
    const { stdout } = await type('pix list --status PROCESSING --limit 5');
    assert.match(stdout, /^ID +USER +TYPE/);
    assert.ok(stdout.includes(id) && stdout.includes(endToEnd));
    const { result } = await typedJson('pix list --limit 1');
    assert.equal(result.transactions[0].id, id);
    const shown = await type(`pix show ${id}`);
    assert.match(shown.stdout, /status +PROCESSING in ACCEPTED/);
    assert.match(shown.stdout, /PAYING +1/);
    assert.match(shown.stdout, /Waits for {2}The webhook of the provider/);
    assert.equal((await typedJson(`pix show ${id}`)).result.transaction.endToEnd, endToEnd);
  });

  it('says when nothing is stuck, and what is wrong with what was typed', async () => {
    const nothing = await type('pix list --stuck --older-than 90d');
    assert.deepEqual(nothing, { code: 0, stdout: '', stderr: 'There are no such transactions.\n' });
    for (const line of [
      'pix list --older-than soon',
      'pix list --user x',
      'pix list --stuck --corrected',
      'pix list --since 1h --until 2h',
      'webhook list --since 1h --until 2h',
      'webhook replay --since 1h --until 2h --yes',
    ]) {
      assert.equal((await type(line)).code, 2, line);
    }
    assert.equal((await type('pix show')).code, 2);
    const unknown = await type('pix list --user 999999');
    assert.deepEqual(unknown, { code: 1, stdout: '', stderr: 'ponte: there is no user 999999\n' });
    const missing = await type(`pix show ${randomUUID()}`);
    assert.deepEqual([missing.code, missing.stdout], [1, '']);
    assert.match(missing.stderr, /^ponte: there is no transaction/);
  });

  it('refuses what a list, or an overrule, does not read', async () => {
    const file = join(app.database.dataDir, 'ends.csv');
    const { id } = await app.givenSend();
    await writeFile(file, `${id},completed\n`);
    const resolve = 'pix resolve --reason ticket-7 --yes';
    for (const line of [
      `${resolve} --from ${file} --end-to-end ${nobodys()}`,
      `${resolve} --from ${file} --overrule`,
      `${resolve} ${id} --as failed --overrule --end-to-end ${nobodys()}`,
    ]) {
      const { code, stderr } = await type(line);
      assert.equal(code, 2, line);
      assert.match(stderr, /cannot be used with option/);
    }
    assert.equal((await app.stored(id)).status, 'PROCESSING');
  });

  it('resolves with --yes, and with the risk in words where money may be lost', async () => {
    const { id } = await app.givenSend();
    const failed = '--as failed --despite-statement';
    const resolve = (rest: string, typed?: Typed) =>
      type(`pix resolve ${id} ${failed} --reason ticket-7 ${rest}`.trim(), typed);
    const silent = await resolve('--yes');
    assert.equal(silent.code, 2);
    assert.match(silent.stderr, /--confirm 'money may have moved'/);
    assert.equal((await resolve('--yes --confirm really')).code, 2);
    const unasked = await resolve('');
    assert.equal(unasked.code, 2);
    assert.match(unasked.stderr, /confirm it with --yes/);
    const declined = await resolve('', { input: '\n' });
    assert.equal(declined.code, 1);
    assert.match(declined.stderr, /although money may have moved/);
    assert.equal((await app.stored(id)).status, 'PROCESSING');
    const agreed = await resolve('', { input: 'y\n' });
    assert.deepEqual([agreed.code, agreed.stdout], [0, `${id} is FAILED.\n`]);
    const lines = await app.timeline(id);
    assert.equal(lines.at(-1), `SETTLED operator ${userInfo().username}: ticket-7`);
  });

  it('resolves as completed with --yes, and with the words that money has moved', async () => {
    const { id } = await app.givenSend();
    const decision = `pix resolve ${id} --as completed --reason ticket-7`;
    const silent = await type(`${decision} --yes`);
    assert.equal(silent.code, 2);
    assert.match(silent.stderr, /needs --confirm 'money has moved': the person is told so/);
    assert.equal((await type(`${decision} --yes --confirm yes`)).code, 2);
    const declined = await type(decision, { input: '\n' });
    assert.equal(declined.code, 1);
    assert.match(declined.stderr, /COMPLETED permanently, because money has moved\?/);
    assert.equal((await app.stored(id)).status, 'PROCESSING');
    const argv = [
      'pix',
      'resolve',
      id,
      '--as',
      'completed',
      '--reason',
      'reported by phone',
      '--yes',
      '--confirm',
      'money has moved',
    ];
    const { code, stdout, stderr } = await runPonte(app, [...argv, '--json']);
    assert.equal(code, 0);
    assert.equal(JSON.parse(stdout).transaction.status, 'COMPLETED');
    assert.match(stderr, /must not contain personal data/);
    assert.equal((await runPonte(app, argv)).code, 1);
  });

  it('takes an end-to-end id only for a send that lacks it', async () => {
    const { id } = await app.givenSend();
    const rest = `--as completed --end-to-end ${nobodys()} --reason ticket-7 --yes`;
    const argv = [...`pix resolve ${id} ${rest}`.split(' '), '--confirm', 'money has moved'];
    const { code, stderr } = await runPonte(app, argv);
    assert.equal(code, 1);
    assert.match(stderr, /only a send that lacks it after a loss of commits takes --end-to-end/);
  });

  it('audits: 0 when every rule holds, 1 and the row when one does not', async () => {
    const good = await type('pix audit');
    assert.equal(good.code, 0, good.stdout);
    assert.match(good.stdout, /every rule holds\.\n$/);
    const event = await app.deliver({ event: 'NEWS', id: randomUUID() });
    await app.rows('delete from webhook_queue where event_id = $1', [event]);
    const bad = await type('pix audit');
    assert.equal(bad.code, 1);
    assert.match(bad.stdout, /BROKEN {2}A received event is in the queue/);
    assert.ok(bad.stdout.includes(`event ${event}: received`));
    const { code, result } = await typedJson('pix audit');
    assert.deepEqual([code, result.ok], [1, false]);
    await app.settle(event);
  });
});

describe('a list that has as many rows as its limit', () => {
  for (const [line, name] of [
    ['pix list', 'transactions'],
    ['webhook list', 'events'],
    ['jobs list', 'jobs'],
    ['session list', 'sessions'],
  ] as const) {
    it(`says so: ponte ${line}`, async () => {
      await app.givenSend();
      await app.receive({ event: 'NEWS', id: randomUUID() });
      await queueJob(app, 'listed');
      const cut = await type(`${line} --limit 1`);
      assert.equal(cut.stderr, 'There may be more: set a greater --limit, or filter them.\n');
      const { result } = await typedJson(`${line} --limit 1`);
      assert.deepEqual([result[name].length, result.mayHaveMore], [1, true]);
      assert.equal((await type(`${line} --limit 1000`)).stderr, '');
      assert.equal((await typedJson(`${line} --limit 1000`)).result.mayHaveMore, false);
    });
  }
});

describe('ponte webhook', () => {
  it('lists and shows without people; as it came only with a warning', async () => {
    const endToEnd = nobodys();
    const { eventId } = await app.receive({ ...confirmed({ endToEnd }), payer: { nome: 'Maria' } });
    const { stdout } = await type('webhook list --state parked --since 1d --until 2999-01-01');
    assert.match(stdout, new RegExp(`${eventId} +parked .*1 parked`));
    const shown = await type(`webhook show ${eventId}`);
    assert.match(shown.stdout, /"endToEnd": "E/);
    assert.match(shown.stdout, /0 +parked +no_match/);
    assert.ok(!shown.stdout.includes('Maria'));
    const raw = await type(`webhook show ${eventId} --raw`);
    assert.ok(raw.stdout.includes('Maria'));
    assert.match(raw.stderr, /may contain personal data/);
    const { result } = await typedJson(`webhook list --event ${eventId}`);
    assert.equal(result.events[0].state, 'parked');
    assert.equal((await typedJson(`webhook show ${eventId}`)).result.payload.payer.nome, '***');
    for (const line of ['webhook list --since soon', 'webhook list --state lost']) {
      assert.equal((await type(line)).code, 2);
    }
  });

  it('takes an id as it is pasted: with blanks around it, and in capitals', async () => {
    const { eventId } = await app.receive(confirmed({ endToEnd: nobodys() }));
    const pasted = ` ${eventId.toUpperCase()}\n`;
    for (const argv of [
      ['webhook', 'show', pasted],
      ['webhook', 'list', '--event', pasted],
      ['webhook', 'replay', '--dry-run', pasted, ` ${eventId}`],
    ]) {
      const { code, stderr } = await runPonte(app, argv);
      assert.deepEqual({ argv, code, stderr }, { argv, code: 0, stderr: '' });
    }
    const jobId = await queueJob(app, 'pasted', { status: 'dead', finished_at: app.clock.now() });
    assert.equal((await runPonte(app, ['jobs', 'retry', ` ${jobId} `, '--yes'])).code, 0);
    const accept = ['reconcile', 'accept', ' 99 ', '--reason', 'ticket 7', '--yes'];
    assert.match((await runPonte(app, accept)).stdout, /There is no open difference 99\./);
  });

  it('shows a replay, asks, replays, and says where it has come to', async () => {
    const { id, end_to_end: endToEnd } = await app.givenSend();
    const { eventId } = await app.receive(confirmed({ endToEnd: nobodys() }));
    await app.rows('update webhook_events set payload = $2 where id = $1', [
      eventId,
      Buffer.from(JSON.stringify(confirmed({ endToEnd }))),
    ]);
    const dry = await type(`webhook replay ${eventId} --dry-run`);
    assert.equal(dry.code, 0);
    assert.match(
      dry.stdout,
      new RegExp(`^${eventId}  parked → processed\n  item 0  applied  ${id}`),
    );
    assert.match(dry.stdout, /PROCESSING → COMPLETED\n.*Nothing was changed\.\n$/);
    assert.equal((await type(`webhook replay ${eventId}`)).code, 2);
    const declined = await type(`webhook replay ${eventId}`, { input: 'n\n' });
    assert.equal(declined.code, 1);
    assert.match(declined.stderr, /Settle 1 event again\?/);
    assert.equal((await app.stored(id)).status, 'PROCESSING');
    const wet = await type(`webhook replay ${eventId} --yes`);
    assert.equal(wet.code, 0);
    assert.match(wet.stdout, /1 replayed; items: 1 applied\.\n$/);
    assert.equal((await app.stored(id)).status, 'COMPLETED');
  });

  it('replays many pages, counting all; one that is missing is exit 1', async () => {
    await app.clock.advance(60_000);
    const since = app.clock.now().toISOString();
    for (let n = 0; n < 45; n += 1) await app.receive({ event: 'NEWS', id: randomUUID() });
    const { code, result } = await typedJson(
      `webhook replay --state ignored --since ${since} --yes`,
    );
    assert.equal(code, 0);
    assert.deepEqual(result.results, { replayed: 45 });
    assert.deepEqual(result.outcomes, { ignored: 45 });
    assert.equal(result.events.length, 45);
    const missing = await type(`webhook replay ${randomUUID()} --yes`);
    assert.equal(missing.code, 1);
    assert.match(missing.stdout, /missing/);
    const all = await type('webhook replay --yes');
    assert.equal(all.code, 2);
    assert.match(all.stderr, /give event ids or a filter/);
  });

  it('says which events a filter excludes that were named: exit 1', async () => {
    const { eventId } = await app.receive({ event: 'NEWS', id: randomUUID() });
    const { code, stdout } = await type(`webhook replay ${eventId} --state parked --yes`);
    assert.equal(code, 1);
    assert.equal(stdout, `${eventId}  excluded by the filter\n1 excluded; items: none.\n`);
    assert.equal((await type(`webhook replay ${eventId} --state ignored --yes`)).code, 0);
  });

  it('stops at Ctrl-C behind a page, and goes on from there', async () => {
    await app.clock.advance(60_000);
    const since = app.clock.now().toISOString();
    for (let n = 0; n < 25; n += 1) await app.receive({ event: 'NEWS', id: randomUUID() });
    const line = `webhook replay --state ignored --since ${since} --yes --json`;
    const others = process.listeners('SIGINT');
    const replaying = type(line);
    await eventually(() => process.listenerCount('SIGINT') > others.length, 'the first page');
    // The test's own runner listens too.
    const pressed = process.listeners('SIGINT').find((one) => !others.includes(one));
    pressed?.('SIGINT');
    const stopped = await replaying;
    assert.equal(stopped.code, 130);
    const [, place = ''] = /--after (\S+)/.exec(stopped.stderr) ?? [];
    const rest = await type(`${line} --after ${place}`);
    assert.equal(rest.code, 0);
    const done = (text: string): number => JSON.parse(text).results.replayed;
    assert.equal(done(stopped.stdout) + done(rest.stdout), 25);
  });

  it('posts a webhook as the provider would, from a transaction and from a file', async () => {
    const { id } = await app.givenSend();
    const sent = await type(`webhook send --transaction ${id} --status FAILED --shape entity`);
    assert.equal(sent.code, 0, sent.stderr);
    assert.equal(sent.stdout, 'The service has stored the webhook.\n');
    for (const event of await app.unsettled()) await app.settle(event);
    assert.equal((await app.stored(id)).status, 'FAILED');

    const file = join(app.database.dataDir, 'event.json');
    await writeFile(file, '{"event":"NEWS"}');
    const { result } = await typedJson(`webhook send --file ${file}`);
    assert.equal(result.status, 200);
    await writeFile(file, '{');
    const refused = await type(`webhook send --file ${file}`);
    assert.equal(refused.code, 1);
    assert.match(refused.stdout, /^The service refused the webhook \(400\): The body is not/);
    assert.equal((await type(`webhook send --file ${file}.none`)).code, 2);
    for (const event of await app.unsettled()) await app.settle(event);
  });

  it('refuses to post what, where and when it should not', async () => {
    const file = join(app.database.dataDir, 'event.json');
    await writeFile(file, '{"event":"NEWS"}');
    const send = `webhook send --file ${file}`;
    const refund = 'webhook send --transaction x --refund 5.00';
    for (const line of [
      'webhook send',
      `${send} --transaction x`,
      `${send} --url ftp://x`,
      `${send} --status FAILED`,
      `${send} --shape entity`,
      `${send} --refund 5.00`,
      `${refund} --status FAILED`,
      `${refund} --shape entity`,
    ]) {
      assert.equal((await type(line)).code, 2, line);
    }
    const anyPort = { environment: { PORT: '0' } };
    assert.match(
      (await type(send, anyPort)).stderr,
      /PORT is 0: give the address of the service with --url/,
    );
    const away = await type(`${send} --url http://127.0.0.1:1/`);
    assert.equal(away.code, 3);
    assert.match(away.stderr, /127\.0\.0\.1:1 does not answer \(ECONNREFUSED\)/);
  });

  it('refuses in production: only the provider reports there', async () => {
    const { id } = await app.givenSend();
    const environment = production;
    for (const what of [`--transaction ${id}`, '--file /dev/null']) {
      const { code, stderr } = await type(`webhook send ${what}`, { environment });
      assert.equal(code, 1, what);
      assert.match(stderr, /in production only the provider sends webhooks/);
    }
    assert.deepEqual(await app.unsettled(), []);
  });

  it('sends the secret to the configured service only', async () => {
    const file = join(app.database.dataDir, 'event.json');
    await writeFile(file, '{"event":"NEWS"}');
    const seen: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      seen.push(request.headers['x-webhook-secret']?.toString());
      response.end('{}');
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const send = (rest: string, typed: Typed) => type(`webhook send --file ${file} ${rest}`, typed);
    const secret = { WEBHOOK_SECRET: 'new,old' };
    const url = `--url http://127.0.0.1:${port}/hook`;
    await send(url, { environment: { ...secret, PORT: String(port) } });
    const other = await send(url, { environment: secret });
    await send(`${url} --secret-stdin`, { environment: secret, stdin: 'typed\n' });
    server.close();
    assert.deepEqual(seen, ['new', undefined, 'typed']);
    assert.match(other.stderr, /No secret is sent to this address/);
  });
});

describe('ponte jobs', () => {
  it('lists and counts', async () => {
    const dead = { status: 'dead', finished_at: app.clock.now() };
    const id = await queueJob(app, 'seal-again', dead);
    const listed = await type('jobs list --state dead');
    assert.match(listed.stdout, new RegExp(`${id} +seal-again +dead`));
    assert.match((await type('jobs stats')).stdout, /seal-again +dead +1/);
    assert.equal((await typedJson('jobs list --kind seal-again')).result.jobs[0].id, id);
    const { counts } = (await typedJson('jobs stats')).result;
    assert.ok(counts.some(({ kind }: { kind: string }) => kind === 'seal-again'));
    const none = await type('jobs list --kind expire-onboarding --state dead');
    assert.deepEqual([none.stdout, none.stderr], ['', 'There are no such jobs.\n']);
  });

  it('retries what is named, or all that is dead', async () => {
    const dead = { status: 'dead', finished_at: app.clock.now() };
    const id = await queueJob(app, 'deliver-app-event', dead);
    await queueJob(app, 'deliver-app-event', dead);
    assert.equal((await type(`jobs retry ${id}`)).code, 2);
    assert.equal((await type(`jobs retry ${id}`, { input: 'n\n' })).code, 1);
    const one = await type(`jobs retry ${id} --yes`);
    assert.deepEqual([one.code, one.stdout], [0, '1 job is queued again.\n']);
    const again = await type(`jobs retry ${id} --yes`);
    assert.equal(again.code, 1);
    assert.match(again.stdout, new RegExp(`${id} is queued, not dead`));
    const all = await typedJson('jobs retry --all-dead --kind deliver-app-event --yes');
    assert.deepEqual([all.code, all.result.retried], [0, 1]);
  });

  it('refuses a choice that is none', async () => {
    for (const line of ['jobs retry', 'jobs retry 7 --all-dead', 'jobs retry 7 --kind x']) {
      assert.equal((await type(line)).code, 2, line);
    }
  });

  it('refuses a kind that no job has, and names the kinds', async () => {
    for (const line of ['list --kind reconcile-users', 'retry --all-dead --kind seal --yes']) {
      const { code, stderr } = await type(`jobs ${line}`);
      assert.equal(code, 2, line);
      assert.match(stderr, /Allowed choices are settle-webhook, .*vacuum-embedded/);
    }
  });
});
