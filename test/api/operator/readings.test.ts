/** Operators who read personal data leave a record, as those who change something do. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listActions } from '../../../src/operator/audit.ts';
import { showPix } from '../../../src/operator/pix-show.ts';
import { listSessions } from '../../../src/operator/sessions.ts';
import { showLimits } from '../../../src/operator/spending-limits.ts';
import { listUsers } from '../../../src/operator/users.ts';
import { startTestApp } from '../../support/app.ts';
import { givenCustomer } from '../../support/factories.ts';
import { unwatched } from './asking.ts';

const app = await startTestApp({ environment: { JOBS: 'off' } });
const { context } = app;

const recorded = async (target: string) => {
  const { actions } = await listActions.run(context, { target, limit: 10 }, unwatched);
  return actions.map(({ command, operator, outcome }) => ({ command, operator, outcome }));
};

test('`pix show` and `user list` are recorded, with the operator and the role in the database', async () => {
  const { token } = await givenCustomer(app);
  const { body } = await app.call('/pix/send', {
    token,
    key: 'read-by-an-operator',
    body: { pix_key: 'bruno@example.com', amount: 1 },
  });
  const id: string = body.transaction_id;
  const caller = { ...unwatched, operator: 'root (ana)' };
  await showPix.run(context, { id }, caller);
  await listUsers.run(context, { limit: 5 }, caller);
  const reading = { operator: 'root (ana)', outcome: 'read' };
  assert.deepEqual(await recorded(`pix:${id}`), [{ command: 'pix show', ...reading }]);
  assert.deepEqual(await recorded('users'), [{ command: 'user list', ...reading }]);
  const [role] = await app.rows<{ role: string }>('select session_user::text as role');
  const { actions } = await listActions.run(context, { limit: 1 }, unwatched);
  assert.equal(actions[0]?.databaseUser, role?.role);
});

test('`session list` and `limit show` are recorded, of all users or of one', async () => {
  const { id } = await givenCustomer(app);
  const user = String(id);
  await listSessions.run(context, { limit: 5 }, unwatched);
  await listSessions.run(context, { user, limit: 5 }, unwatched);
  await showLimits.run(context, { user }, unwatched);
  const commands = async (target: string) => (await recorded(target)).map((one) => one.command);
  assert.ok((await commands('users')).includes('session list'));
  assert.deepEqual(await commands(`user:${user}`), ['limit show', 'session list']);
});

test('a transaction that is not there is not recorded', async () => {
  const id = '01a1fc38-f5e5-7517-8ecb-a7d299a5dbba';
  await assert.rejects(showPix.run(context, { id }, unwatched));
  assert.deepEqual(await recorded(`pix:${id}`), []);
});
