/** What an operator types for all sends, and for what is left after a loss of commits. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { beginPause, findPause } from '../../../src/ledger/pause-repository.ts';
import { resumePix } from '../../../src/operator/pix-pause.ts';
import { newEndToEndId } from '../../../src/domain/pix.ts';
import { startTestApp } from '../../support/app.ts';
import { givenUser } from '../../support/factories.ts';
import { blockByPayment } from '../pix/pix-app-loss.ts';
import { runPonte, type Ended } from './command-line.ts';
import { unwatched } from './asking.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });

const reason = ['--reason', 'ticket 7', '--yes'];
const run = (argv: string[]): Promise<Ended> => runPonte(app, argv);
const type = (...argv: string[]): Promise<Ended> => run(['pix', ...argv]);

async function gauge(name: string): Promise<string | undefined> {
  await app.clock.advance(10_000);
  const text = await (await fetch(`${app.url}/metrics`)).text();
  return new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1];
}

describe('ponte pix pause and resume', () => {
  it('pause and resume, are recorded, and are measured', async () => {
    const paused = await type('pause', ...reason, '--by', 'ana');
    assert.equal(paused.code, 0, paused.stderr);
    assert.equal(paused.stdout, 'All sends are paused.\n');
    assert.equal(await gauge('ponte_pix_paused'), '1');
    const again = await type('pause', ...reason);
    assert.deepEqual([again.code, again.stdout], [1, '']);
    assert.match(again.stderr, /paused already/);
    const resumed = await type('resume', ...reason);
    assert.equal(resumed.stdout, 'Users send again.\n');
    assert.equal(await gauge('ponte_pix_paused'), '0');
    assert.equal((await type('resume', ...reason)).code, 1);
    const actions = await app.rows(
      `select command, target, reason, outcome from operator_actions order by id`,
    );
    assert.deepEqual(actions, [
      { command: 'pix pause', target: 'pix', reason: 'ticket 7', outcome: 'begun' },
      { command: 'pix resume', target: 'pix', reason: 'ticket 7', outcome: 'no commits lost' },
    ]);
  });

  it('--since sets since when commits may be lost, also in a pause, and resume waits', async () => {
    await type('pause', ...reason);
    const earlier = await type('pause', ...reason, '--since', '2026-05-24 11:00');
    assert.match(earlier.stdout, /Commits may be lost since 2026-05-24 11:00/);
    const later = await type('pause', ...reason, '--since', '2026-05-24 11:30');
    assert.equal(later.code, 1, 'the earlier time stays');
    const tooEarly = await type('resume', ...reason);
    assert.match(tooEarly.stderr, /may still be made: resume after/);
    // Longer than a call lasts, by the settings of the service and of the command.
    await app.clock.advance(2 * 60_000);
    const resumed = await type('resume', ...reason);
    assert.match(resumed.stdout, /once their statement since 2026-05-24 11:00/);
  });

  it('a loss that is noticed while an operator resumes is not ended with the pause', async () => {
    await type('pause', ...reason);
    const lostSince = app.clock.now();
    const { query } = app.context.db;
    const losing: typeof query = async (statement, parameters) => {
      const rows = await query(statement, parameters);
      if (statement.name === 'pix-pause-find')
        await beginPause(app.context, { by: 'ponte', reason: 'a row is missing', lostSince });
      return rows;
    };
    const context = { ...app.context, db: { ...app.context.db, query: losing } };
    const resumed = resumePix.run(context, { reason: 'ticket 7' }, unwatched);
    await assert.rejects(resumed, /has changed meanwhile/);
    assert.deepEqual((await findPause(app.context))?.lostSince, lostSince);
    await app.clock.advance(2 * 60_000);
    assert.match((await type('resume', ...reason)).stdout, /once their statement since/);
  });

  it('refuse a time in the future or long ago, and a missing reason', async () => {
    const future = await type('pause', ...reason, '--since', '2027-01-01');
    assert.match(future.stderr, /--since is in the future/);
    const lastYear = await type('pause', ...reason, '--since', '2025-05-24 11:00');
    assert.match(lastYear.stderr, /--since is over 90 days ago: is the year right\?/);
    assert.equal(lastYear.code, 2);
    assert.equal((await type('pause', '--yes')).code, 2);
    assert.equal((await type('resume', '--yes')).code, 2);
  });
});

describe('ponte reconcile', () => {
  it('lists the payments that block orders, and accepts one', async () => {
    const blocking = () => run(['reconcile', 'list', '--blocking']);
    assert.match((await blocking()).stderr, /There are no such differences/);
    const { id: userId } = await givenUser(app);
    const endToEnd = newEndToEndId('11165756', app.clock.now());
    await blockByPayment(app.context, { userId, endToEnd });
    assert.equal(await gauge('ponte_pix_unaccounted'), '1');
    const { stdout } = await blocking();
    assert.match(stdout, new RegExp(`MISSING_HERE +12.50 .*${endToEnd}`));
    assert.match(stdout, /it blocks the user's sends of this amount/);
    const listed = await run(['reconcile', 'list', '--blocking', '--json']);
    const [{ id, blocks }] = JSON.parse(listed.stdout).differences;
    assert.equal(blocks, 'SEND');
    const accepted = await run(['reconcile', 'accept', String(id), ...reason]);
    assert.equal(accepted.code, 0, accepted.stderr);
    assert.equal(await gauge('ponte_pix_unaccounted'), '0');
    assert.match((await blocking()).stderr, /There are no such differences/);
  });
});
