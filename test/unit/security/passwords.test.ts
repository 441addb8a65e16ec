import assert from 'node:assert/strict';
import { argon2Sync } from 'node:crypto';
import { describe, it } from 'node:test';
import { AppError } from '../../../src/errors.ts';
import { createPasswords } from '../../../src/process/passwords.ts';
import { cheapHash } from '../../support/cheap-hash.ts';

const passwords = createPasswords();

describe('hashing a password', () => {
  it('gives a PHC string of argon2id with 19 MiB, two passes and one lane', async () => {
    const stored = await passwords.hash('correct horse');
    assert.match(
      stored,
      /^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/,
    );
  });

  it('salts: the same password twice gives two hashes', async () => {
    const [one, two] = await Promise.all([passwords.hash('same'), passwords.hash('same')]);
    assert.notEqual(one, two);
  });
});

describe('verifying a password', () => {
  it('accepts the password and refuses another one', async () => {
    const stored = await passwords.hash('correct horse');
    assert.equal(await passwords.verify('correct horse', stored), true);
    assert.equal(await passwords.verify('correct horsf', stored), false);
    assert.equal(await passwords.verify('', stored), false);
  });

  it('takes a composed and a decomposed letter for the same one', async () => {
    const stored = await passwords.hash('coração'.normalize('NFC'));
    assert.equal(await passwords.verify('coração'.normalize('NFD'), stored), true);
  });

  it('reads the cost from the stored hash, so that a later change locks no user out', async () => {
    const nonce = Buffer.alloc(16, 7);
    const cost = { memory: 1024, passes: 1, parallelism: 1 };
    const tag = argon2Sync('argon2id', { ...cost, message: 'old', nonce, tagLength: 32 });
    const encode = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '');
    const stored = `$argon2id$v=19$m=1024,t=1,p=1$${encode(nonce)}$${encode(tag)}`;
    assert.equal(await passwords.verify('old', stored), true);
    assert.equal(await passwords.verify('new', stored), false);
  });

  it('is false for a user that does not exist, after the same work', async () => {
    const measureCpu = async (work: () => Promise<unknown>): Promise<number> => {
      const before = process.cpuUsage();
      await work();
      return process.cpuUsage(before).user;
    };
    const stored = await passwords.hash('correct horse');
    assert.equal(await passwords.verify('correct horse', null), false);
    const wrong = await measureCpu(() => passwords.verify('wrong', stored));
    const unknown = await measureCpu(() => passwords.verify('wrong', null));
    assert.ok(unknown > wrong / 4, `${unknown} µs of work for an unknown user, else ${wrong}`);
  });

  it('is false for a stored text that is not a hash of this format', async () => {
    const head = '$argon2id$v=19$';
    const tail = `$${'A'.repeat(22)}$${'A'.repeat(43)}`;
    const texts = [
      '',
      'plain',
      `${head}m=19456,t=2,p=1$AA$AA`,
      `${head}m=999999,t=2,p=1${tail}`,
      `${head}m=19456,t=0,p=1${tail}`,
      `${head}m=19456,t=2,p=0${tail}`,
    ];
    for (const text of texts) assert.equal(await passwords.verify('plain', text), false, text);
  });
});

describe('the queue of a hashing storm', () => {
  /** Verified at a small cost: these tests are about the queue. */
  const stored = cheapHash('correct horse');

  const isBusy = (error: unknown): boolean => {
    assert.ok(error instanceof AppError);
    assert.equal(error.code, 'BUSY');
    assert.deepEqual(error.headers, { 'Retry-After': '1' });
    return true;
  };

  it('answers BUSY beyond its limit, and serves those who wait', async () => {
    const small = createPasswords({ concurrency: 1, share: 1, queueLimit: 1 });
    const running = small.verify('a', stored);
    const waiting = small.verify('b', stored);
    await assert.rejects(small.verify('c', stored), isBusy);
    assert.deepEqual(await Promise.all([running, waiting]), [false, false]);
  });

  it('does not let customers wait for strangers', async () => {
    const small = createPasswords({ queueLimit: 1 });
    const strangers = [
      small.verify('a', stored),
      small.verify('b', stored),
      small.verify('c', stored),
    ];
    await assert.rejects(small.verify('d', stored), isBusy);
    const customer = small.verify('e', stored, { isKnown: true });
    assert.deepEqual(small.load(), { running: 3, waiting: 1 });
    await Promise.all([...strangers, customer]);
  });

  it('gives strangers and registrations a share of the places, in turns', async () => {
    const small = createPasswords({ queueLimit: 2, hashQueueLimit: 2 });
    const all = [
      small.verify('a', stored),
      small.verify('b', stored),
      small.verify('c', stored),
      small.verify('d', stored),
      small.hash('e'),
      small.hash('f'),
    ];
    assert.deepEqual(small.load(), { running: 2, waiting: 4 });
    await assert.rejects(small.verify('g', stored), isBusy);
    await assert.rejects(small.hash('h'), isBusy);
    await Promise.all(all);
    assert.deepEqual(small.load(), { running: 0, waiting: 0 });
  });

  it('serves networks in turns: nobody waits behind the storm of another one', async () => {
    const small = createPasswords({ concurrency: 1, share: 1 });
    const ended: string[] = [];
    const begin = (network: string): Promise<unknown> =>
      small.verify('a', stored, { network }).then(() => ended.push(network));
    const storm = Array.from({ length: 50 }, () => begin('storm'));
    await Promise.all([begin('one'), begin('other'), ...storm]);
    assert.ok(ended.indexOf('one') <= 3 && ended.indexOf('other') <= 4, ended.join(' '));
    const order: string[] = [];
    const hash = (network: string): Promise<unknown> =>
      small.hash('a', network).then(() => order.push(network));
    await Promise.all([...['s', 's', 's', 's', 's'].map(hash), hash('one')]);
    assert.ok(order.indexOf('one') <= 2, order.join(' '));
  });

  it('refuses the network with the most, when a queue is full', async () => {
    const small = createPasswords({ concurrency: 1, share: 1, queueLimit: 3 });
    const begin = (network: string): Promise<string> =>
      small.verify('a', stored, { network }).then(
        () => 'served',
        (error: unknown) => (isBusy(error) ? 'busy' : ''),
      );
    const [first, ...storm] = ['storm', 'storm', 'storm', 'storm', 'storm'].map(begin);
    const others = ['one', 'other', 'third'].map(begin);
    assert.equal(await first, 'served');
    assert.deepEqual(await Promise.all(storm), ['served', 'busy', 'busy', 'busy']);
    assert.deepEqual(await Promise.all(others), ['served', 'served', 'busy']);
    assert.deepEqual(small.load(), { running: 0, waiting: 0 });
  });

  it('has room for more than a hundred strangers at once', async () => {
    const strangers = Array.from({ length: 120 }, () => passwords.verify('a', stored));
    assert.equal((await Promise.all(strangers)).length, 120);
  });

  it('gives a free place to customers first', async () => {
    const small = createPasswords({ concurrency: 1, share: 1 });
    const ended: string[] = [];
    const note = (name: string) => () => void ended.push(name);
    const strangers = Array.from({ length: 3 }, () =>
      small.verify('a', null).then(note('stranger')),
    );
    const customers = Array.from({ length: 2 }, () =>
      small.verify('b', null, { isKnown: true }).then(note('customer')),
    );
    await Promise.all([...strangers, ...customers]);
    assert.deepEqual(ended, ['stranger', 'customer', 'customer', 'stranger', 'stranger']);
  });

  it('takes new work once the storm is over', async () => {
    const small = createPasswords({ concurrency: 1, share: 1, queueLimit: 0 });
    await small.verify('a', stored);
    assert.equal(await small.verify('b', stored), false);
  });
});
