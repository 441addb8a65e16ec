/** Which pages are served, to whom, and under which policy; test/system opens them in a browser. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe, it } from 'node:test';
import manifest from '../../../package.json' with { type: 'json' };
import { scenarios } from '../../../src/provider/sandbox/bank/scenarios.ts';
import { startTestApp } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { givenCustomer } from '../../support/factories.ts';
import { passUntil } from '../../support/passing-time.ts';

const pages = ['/dev', '/dev/onboarding', '/dev/prova-vida/some-session', '/docs'];

const files = readdirSync(new URL('../../../src/pages/dev/', import.meta.url)).filter(
  (name) => !name.endsWith('.html'),
);

const local = await startTestApp({ environment: { APP_ENV: 'local' } });
const anywhere = await startTestApp();

describe('in local', () => {
  const { url } = local;

  for (const path of pages) {
    it(`${path} is a page without code or styles of its own in it`, async () => {
      const response = await fetch(`${url}${path}`);
      assert.equal(response.status, 200);
      assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8');
      assert.equal(response.headers.get('referrer-policy'), 'no-referrer');
      const policy = response.headers.get('content-security-policy') ?? '';
      assert.match(policy, /default-src 'none'; script-src 'self';/);
      const html = await response.text();
      assert.doesNotMatch(html, /<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/);
      assert.doesNotMatch(html, /(?:src|href)="(?:https?:)?\/\//);
    });
  }

  it('every file that a page asks for is served with its type', async () => {
    assert.ok(files.length > 10);
    for (const file of files) {
      const response = await fetch(`${url}/dev/assets/${file}`);
      assert.equal(response.status, 200, file);
      assert.match(response.headers.get('content-type') ?? '', /^text\/(?:css|javascript);/);
    }
  });

  it('the scenarios of the simulated bank are those of its table', async () => {
    const listed = (await (await fetch(`${url}/dev/scenarios.json`)).json()) as object[];
    assert.deepEqual(
      listed,
      scenarios.map(({ input, value, effect }) => ({ input, value, effect })),
    );
  });

  it('what the pages share with the console is served without its types', async () => {
    const moduleUrl = async (path: string): Promise<string> => {
      const response = await fetch(`${url}${path}`);
      assert.match(response.headers.get('content-type') ?? '', /^text\/javascript;/);
      let text = await response.text();
      for (const [, from = ''] of text.matchAll(/^import .* from '(.+)';$/gm)) {
        text = text.replace(from, await moduleUrl(new URL(from, `${url}${path}`).pathname));
      }
      return `data:text/javascript;base64,${Buffer.from(text).toString('base64')}`;
    };
    for (const name of ['format', 'outcomes']) {
      const module: object = await import(await moduleUrl(`/dev/assets/${name}.js`));
      assert.ok(Object.keys(module).length > 3);
    }
  });

  it('the pages know the version, and that there is a simulated bank', async () => {
    const about: unknown = await (await fetch(`${url}/dev/about.json`)).json();
    const { version } = manifest;
    assert.deepEqual(about, { provider: 'simulated bank', version, hasBank: true });
  });

  it('/ leads to /dev', async () => {
    const response = await fetch(`${url}/`, { redirect: 'manual' });
    assert.equal(response.status, 302);
    assert.equal(response.headers.get('location'), '/dev');
  });

  it('a page is the frame with its content', async () => {
    for (const [path, title, main] of [
      ['/dev', 'development', 'id="login"'],
      ['/dev/onboarding', 'onboarding', 'id="registration"'],
    ] as const) {
      const html = await (await fetch(`${url}${path}`)).text();
      assert.ok(html.includes(`<title>Ponte: ${title}</title>`), path);
      assert.ok(html.includes(main), path);
      assert.ok(html.endsWith('</html>\n'), path);
      assert.doesNotMatch(html, /\{\{/);
    }
  });

  it('the pages notice a Pix that has ended, and wait for it at most 20 seconds', async () => {
    const { email, token } = await givenCustomer(local);
    const changes = async (since: string) => {
      const response = await fetch(`${url}/dev/changes?since=${encodeURIComponent(since)}`);
      return ((await response.json()) as { mark: string }).mark;
    };
    const mark = await changes('');
    const unchanged = await passUntil(local.clock, changes(mark));
    assert.equal(unchanged, mark);
    // A payment that is under way has not ended.
    const send = { pix_key: 'maria@example.com', amount: 10 };
    await local.call('/pix/send', { token, key: 'changes', body: send });
    assert.equal(await changes(''), mark);
    const noticed = changes(mark);
    const pay = `receive?email=${encodeURIComponent(email)}&amount=1`;
    const headers = { 'x-ponte-bank': '1' };
    await fetch(`${url}/dev/bank/${pay}`, { method: 'POST', headers });
    assert.notEqual(await passUntil(local.clock, noticed), mark);
  });

  it('a file that is not one of the pages is not served', async () => {
    for (const path of [
      '/dev/assets/index.ts',
      '/dev/assets/..%2f..%2fapp.ts',
      '/dev/nothing',
      '/dev/assets/frame.html',
      '/dev/assets/account.html',
    ]) {
      assert.equal((await fetch(`${url}${path}`)).status, 404, path);
    }
  });
});

interface BankReply {
  readonly message: string;
  readonly errors?: Readonly<Record<string, readonly string[]>>;
}

interface ListedPix {
  readonly transaction_id: string;
  readonly type: string;
  readonly amount: number;
}

describe('the other side of the simulated bank', () => {
  const own = { 'x-ponte-bank': '1' };
  const act = async (
    name: string,
    values: Record<string, string>,
    headers: Record<string, string> = own,
  ) => {
    const query = String(new URLSearchParams(values));
    const url = `${local.url}/dev/bank/${name}?${query}`;
    const response = await fetch(url, { method: 'POST', headers });
    return { status: response.status, ...((await response.json()) as BankReply) };
  };
  const readBalance = async (token: string) =>
    (await local.call('/accounts/balance', { token })).body as { balance: number; source: string };
  const readList = async (token: string, status: string) => {
    const { body } = await local.call(`/pix?status=${status}`, { token });
    return (body as { items: ListedPix[] }).items;
  };

  it('makes a dynamic code that can be read, and refuses an amount that is none', async () => {
    const { token } = await givenCustomer(local);
    const made = await act('make-code', { amount: '12.50', state: 'payable' });
    assert.equal(made.status, 200);
    const code = { copy_paste: (made as { copy_paste?: string }).copy_paste };
    const { body } = await local.call('/pix/decode', { token, body: code });
    assert.deepEqual([body.state, body.amount], ['PAYABLE', 12.5]);
    assert.equal((await act('make-code', { amount: 'x' })).status, 422);
  });

  it('pays a charge: the webhook completes it, and the balance grows', async () => {
    const { token } = await givenCustomer(local);
    const before = await readBalance(token);
    const charge = await local.call('/pix/charge', {
      token,
      key: 'charge',
      body: { type: 'dynamic', amount: 20 },
    });
    const code = String(charge.body.copy_paste);
    assert.equal((await act('pay-charge', { code: ` ${code}\n` })).status, 200);
    const done = () => readList(token, 'COMPLETED');
    await eventually(async () => (await done()).length === 1, 'the charge is paid');
    assert.equal((await readBalance(token)).balance, before.balance + 20);
    const again = await act('pay-charge', { code });
    assert.deepEqual(
      [again.status, again.errors],
      [422, { code: ['The charge is already paid.'] }],
    );
    const unknown = await act('pay-charge', { code: 'x' });
    assert.deepEqual(Object.keys(unknown.errors ?? {}), ['code']);
  });

  it('credits a Pix that pays no charge: the statement has it, once', async () => {
    const { token, email } = await givenCustomer(local);
    assert.equal((await act('receive', { email, amount: '12.34' })).status, 200);
    const received = () => readList(token, 'COMPLETED');
    await eventually(async () => (await received()).length > 0, 'the Pix is received');
    const items = (await received()).map(({ type, amount }) => [type, amount]);
    assert.deepEqual(items, [['PIX_RECEIVED', 12.34]]);
    for (const amount of ['0', '-1', 'x', '']) {
      const { status, errors } = await act('receive', { email, amount });
      assert.deepEqual([status, Object.keys(errors ?? {})], [422, ['amount']], amount);
    }
  });

  it('knows no customer without a user, and names each wrong value', async () => {
    const email = 'unregistered@example.com';
    for (const name of ['expire-token', 'fail-next']) {
      const { status, errors } = await act(name, { email });
      assert.deepEqual([status, Object.keys(errors ?? {})], [422, ['email']], name);
    }
    const { errors = {} } = await act('receive', { email, amount: '0' });
    assert.deepEqual(Object.keys(errors), ['email', 'amount']);
    assert.deepEqual((await act('receive', { email, amount: '1' })).errors, {
      email: ['Is not the e-mail of a user: register the person first.'],
    });
  });

  it('returns a payment in part, then a received Pix in whole, each with its webhook', async () => {
    const { token, email } = await givenCustomer(local);
    const { balance } = await readBalance(token);
    const send = { pix_key: 'maria@example.com', amount: 10 };
    const { body: sent } = await local.call('/pix/send', { token, key: 'send', body: send });
    const transaction = String(sent.transaction_id);
    assert.deepEqual((await act('return', { transaction })).errors, {
      transaction: ['Is not completed: there is nothing to return.'],
    });
    await local.clock.advance(local.context.config.stubSettleMs);
    await eventually(async () => (await readList(token, 'COMPLETED')).length === 1, 'it is paid');
    assert.equal((await act('return', { transaction, amount: ' 4.5 ' })).status, 200);
    assert.equal((await readBalance(token)).balance, balance - 5.5);
    await act('receive', { email, amount: '7' });
    await eventually(
      async () => (await readList(token, 'COMPLETED')).length === 3,
      'it is received',
    );
    const [received] = await readList(token, 'COMPLETED');
    assert.equal(
      (await act('return', { transaction: received?.transaction_id ?? '' })).status,
      200,
    );
    assert.equal((await readBalance(token)).balance, balance - 5.5);
    await eventually(
      async () => (await readList(token, 'COMPLETED')).length === 4,
      'it is returned',
    );
    assert.deepEqual(
      (await readList(token, 'COMPLETED')).map(({ type, amount }) => [type, amount]).toReversed(),
      [
        ['PIX_SEND', 10],
        ['PIX_REFUND_IN', 4.5],
        ['PIX_RECEIVED', 7],
        ['PIX_REFUND_OUT', 7],
      ],
    );
    const { status, errors } = await act('return', { transaction, amount: '5.51' });
    assert.deepEqual(
      { status, errors },
      {
        status: 422,
        errors: { amount: ['Is more than what is left to return.'] },
      },
    );
    assert.equal((await act('return', { transaction })).status, 200);
    assert.deepEqual((await act('return', { transaction })).errors, {
      transaction: ['Was returned in whole already.'],
    });
  });

  it('names each value of a return that is wrong', async () => {
    const transaction = '01934a5e-7b60-7cc1-a8f0-2d4f2f6f0b11';
    for (const values of [{}, { transaction: 'x' }, { transaction }]) {
      const { status, errors = {} } = await act('return', { ...values, amount: '0' });
      assert.deepEqual([status, Object.keys(errors)], [422, ['transaction', 'amount']]);
    }
  });

  it('lets the next call fail with all its attempts, and the one after it work', async () => {
    const { token, email } = await givenCustomer(local);
    assert.equal((await readBalance(token)).source, 'provider');
    assert.equal((await act('fail-next', { email })).status, 200);
    const failed = await passUntil(local.clock, readBalance(token));
    assert.equal(failed.source, 'local');
    assert.equal((await readBalance(token)).source, 'provider');
  });

  it("lets the bank's token expire, which ends the session", async () => {
    const { token, email } = await givenCustomer(local);
    assert.equal((await local.call('/accounts/balance', { token })).status, 200);
    assert.equal((await act('expire-token', { email })).status, 200);
    const refused = await passUntil(local.clock, local.call('/accounts/balance', { token }));
    assert.equal(refused.status, 401);
  });

  it('takes no request that a page of another origin could send', async () => {
    const { email } = await givenCustomer(local);
    assert.equal((await act('receive', { email, amount: '1' }, {})).status, 400);
  });
});

describe('anywhere else', () => {
  const { url } = anywhere;

  it('there are no pages, whatever the method', async () => {
    for (const path of [
      ...pages,
      '/',
      '/dev/assets/api.js',
      '/docs/assets/reference.js',
      '/docs/contract.json',
      '/dev/about.json',
      '/dev/changes',
      ...[
        'make-code',
        'pay-charge',
        'receive',
        'return',
        'expire-token',
        'fail-next',
        'advance',
      ].map((act) => `/dev/bank/${act}`),
    ]) {
      for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS']) {
        assert.equal((await fetch(`${url}${path}`, { method })).status, 404, `${method} ${path}`);
      }
    }
  });
});
