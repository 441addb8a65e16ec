import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, randomUUID, sign, type KeyObject } from 'node:crypto';
import { before, describe, it } from 'node:test';
import { AppError } from '../../../src/errors.ts';
import { createAccessTokens, type AccessTokens } from '../../../src/process/access-tokens.ts';
import { loadSigningKeys, type SigningKeys } from '../../../src/security/signing-keys.ts';
import { manualClock } from '../../support/clock.ts';

const start = new Date('2026-05-24T12:00:00.000Z');
const startSeconds = start.getTime() / 1000;
const ownKeys = generateKeyPairSync('rsa', { modulusLength: 2048 });
const older = generateKeyPairSync('rsa', { modulusLength: 2048 });
const attacker = generateKeyPairSync('rsa', { modulusLength: 2048 });
const names = { issuer: 'ponte', audience: 'ponte-app', ttlSeconds: 3600 };
const subject = { userId: 7, sessionId: '0197f3c2-0000-7000-8000-000000000001' };

let keys: SigningKeys;
let tokens: AccessTokens;
let olderKid: string;

const clock = manualClock(start);

function pem(key: KeyObject): string {
  const type = key.type === 'private' ? 'pkcs8' : 'spki';
  return key.export({ type, format: 'pem' } as { type: 'spki'; format: 'pem' });
}

before(async () => {
  const publicKeysPem = [pem(older.publicKey)];
  keys = await loadSigningKeys({
    privateKeyPem: pem(ownKeys.privateKey),
    publicKeysPem,
    dataDir: 'unused',
  });
  olderKid = [...keys.publicKeys.keys()].find((kid) => kid !== keys.kid) ?? '';
  tokens = createAccessTokens({ keys, ...names, clock });
});

type Fields = Record<string, unknown>;

function encode(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function decode(token: string): { header: Fields; claims: Fields } {
  const [header = '', claims = ''] = token.split('.');
  const read = (part: string): Fields =>
    JSON.parse(Buffer.from(part, 'base64url').toString()) as Fields;
  return { header: read(header), claims: read(claims) };
}

function goodHeader(): Fields {
  return { alg: 'RS256', kid: keys.kid, typ: 'at+jwt' };
}

function goodClaims(): Fields {
  return {
    sub: '7',
    sid: subject.sessionId,
    iss: 'ponte',
    aud: 'ponte-app',
    iat: startSeconds,
    exp: startSeconds + 3600,
    jti: 'e2f1',
  };
}

/** A token with parts changed, or left out with `undefined`, and signed as it should be. */
function forge(changes: { header?: Fields; claims?: Fields }, key = ownKeys.privateKey): string {
  const header = { ...goodHeader(), ...changes.header };
  const signed = `${encode(header)}.${encode({ ...goodClaims(), ...changes.claims })}`;
  return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), key).toString('base64url')}`;
}

async function assertRefused(token: string): Promise<void> {
  await assert.rejects(tokens.verify(token), (error) => {
    assert.ok(error instanceof AppError);
    assert.equal(error.code, 'UNAUTHENTICATED');
    return true;
  });
}

describe('an issued access token', () => {
  it('has the header and the claims of the contract, and nothing else', async () => {
    const { header, claims } = decode(await tokens.issue(subject));
    assert.deepEqual(header, goodHeader());
    assert.match(String(claims['jti']), /^[0-9a-f-]{36}$/);
    assert.deepEqual(claims, { ...goodClaims(), jti: claims['jti'] });
  });

  it('verifies to whom it was issued, with its id and its end', async () => {
    const token = await tokens.issue(subject);
    assert.deepEqual(await tokens.verify(token), {
      ...subject,
      tokenId: decode(token).claims['jti'],
      expiresAt: new Date('2026-05-24T13:00:00.000Z'),
    });
  });

  it('has an id of its own each time', async () => {
    const [one, two] = [await tokens.issue(subject), await tokens.issue(subject)];
    assert.notEqual(decode(one).claims['jti'], decode(two).claims['jti']);
  });
});

describe('verifying an access token', () => {
  it('accepts the token that the attacks below are made from', async () => {
    assert.equal((await tokens.verify(forge({}))).userId, 7);
  });

  it('accepts a token of an older key that is still configured', async () => {
    const token = forge({ header: { kid: olderKid } }, older.privateKey);
    assert.equal((await tokens.verify(token)).userId, 7);
  });

  it('accepts a token up to 30 seconds after its end, and not later', async () => {
    const token = forge({ claims: { exp: startSeconds - 29 } });
    assert.equal((await tokens.verify(token)).userId, 7);
    await assertRefused(forge({ claims: { exp: startSeconds - 30 } }));
  });

  it('accepts a token of an instance whose clock is 30 seconds ahead', async () => {
    const token = forge({ claims: { iat: startSeconds + 30 } });
    assert.equal((await tokens.verify(token)).userId, 7);
  });

  it('goes by its own clock', async () => {
    const moving = manualClock(start);
    const timed = createAccessTokens({ keys, ...names, clock: moving });
    const token = await timed.issue(subject);
    await moving.advance(3_629_000);
    assert.equal((await timed.verify(token)).userId, 7);
    await moving.advance(1000);
    await assert.rejects(timed.verify(token), AppError);
  });

  it('refuses alg none', async () => {
    const parts = `${encode({ ...goodHeader(), alg: 'none' })}.${encode(goodClaims())}`;
    await assertRefused(`${parts}.`);
  });

  it('refuses HS256 with the public key as its secret', async () => {
    const parts = `${encode({ ...goodHeader(), alg: 'HS256' })}.${encode(goodClaims())}`;
    const mac = createHmac('sha256', pem(ownKeys.publicKey)).update(parts).digest('base64url');
    await assertRefused(`${parts}.${mac}`);
  });

  it('refuses another RSA algorithm than RS256', async () => {
    for (const [alg, digest] of [
      ['RS384', 'RSA-SHA384'],
      ['RS512', 'RSA-SHA512'],
    ] as const) {
      const parts = `${encode({ ...goodHeader(), alg })}.${encode(goodClaims())}`;
      const signature = sign(digest, Buffer.from(parts), ownKeys.privateKey).toString('base64url');
      await assertRefused(`${parts}.${signature}`);
    }
  });

  it('refuses a signature of another key under our kid', async () => {
    await assertRefused(forge({}, attacker.privateKey));
  });

  it('ignores a key that the header brings along', async () => {
    const jwk = attacker.publicKey.export({ format: 'jwk' });
    await assertRefused(forge({ header: { jwk } }, attacker.privateKey));
    await assertRefused(forge({ header: { jwk, kid: undefined } }, attacker.privateKey));
    assert.equal((await tokens.verify(forge({ header: { jwk } }))).userId, 7);
  });

  it('ignores addresses of keys in the header', async () => {
    const header = { jku: 'https://attacker.test/jwks', x5u: 'https://attacker.test/cert' };
    await assertRefused(forge({ header }, attacker.privateKey));
    assert.equal((await tokens.verify(forge({ header }))).userId, 7);
  });

  it('refuses an unknown, a missing or a strange kid', async () => {
    for (const kid of ['unknown', undefined, '', 7, null, ['x'], '__proto__', 'constructor']) {
      await assertRefused(forge({ header: { kid } }));
    }
  });

  it('refuses another typ, or none', async () => {
    for (const typ of ['JWT', 'id+jwt', undefined, 7]) {
      await assertRefused(forge({ header: { typ } }));
    }
  });

  it('refuses a critical header that it does not know', async () => {
    await assertRefused(forge({ header: { crit: ['b64'], b64: false } }));
    await assertRefused(forge({ header: { crit: ['x'], x: 1 } }));
  });

  for (const [claim, values] of Object.entries({
    iss: ['other', undefined, 7],
    aud: ['other-app', undefined, [], 7, ['ponte-app'], ['ponte-app', 'other-app']],
    iat: [startSeconds + 31, startSeconds + 1e9, undefined, 'now', null],
    exp: [undefined, 'tomorrow', null],
    sub: [undefined, '', '0', '-7', '7.5', '1e3', '07', 7, 'a', '9'.repeat(20), '2147483648'],
    sid: [undefined, '', 7, null, 'abc', 'a\0b', `{${randomUUID()}}`, randomUUID().toUpperCase()],
    jti: [undefined, 7],
    nbf: [startSeconds + 31],
  })) {
    it(`refuses a wrong or missing ${claim}`, async () => {
      for (const value of values) await assertRefused(forge({ claims: { [claim]: value } }));
    });
  }

  it('refuses a changed claim under the old signature', async () => {
    const [header, , signature] = forge({}).split('.');
    await assertRefused(`${header}.${encode({ ...goodClaims(), sub: '8' })}.${signature}`);
  });

  it('refuses what is no token at all', async () => {
    for (const text of ['', '.', '..', 'a.b.c', 'a.b.c.d.e', 'Bearer', '\u0000', 'é.é.é']) {
      await assertRefused(text);
    }
  });

  it('refuses a token over 8 KiB, however well signed', async () => {
    await assertRefused(forge({ claims: { padding: 'x'.repeat(8192) } }));
  });
});

describe('the published keys', () => {
  it('are the public ones, by kid, without anything private', () => {
    const published = tokens.jwks().keys;
    assert.deepEqual(new Set(published.map(({ kid }) => kid)), new Set([keys.kid, olderKid]));
    for (const key of published) {
      assert.deepEqual(Object.keys(key).sort(), ['alg', 'e', 'kid', 'kty', 'n', 'use']);
      assert.deepEqual([key.kty, key.alg, key.use], ['RSA', 'RS256', 'sig']);
    }
  });
});
