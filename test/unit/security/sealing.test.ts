import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import { createSealer, SealError } from '../../../src/security/sealing.ts';

const key = randomBytes(32);
const sealer = createSealer([key]);

describe('a sealer', () => {
  it('opens what it sealed for the same owner, text or bytes, empty ones too', () => {
    assert.equal(sealer.open(sealer.seal('olá', 'user:7'), 'user:7').toString(), 'olá');
    const bytes = randomBytes(5000);
    assert.deepEqual(sealer.open(sealer.seal(bytes, 'user:7'), 'user:7'), bytes);
    assert.equal(sealer.open(sealer.seal('', 'user:7'), 'user:7').length, 0);
  });

  it('seals the same text differently each time', () => {
    assert.notDeepEqual(sealer.seal('token', 'user:7'), sealer.seal('token', 'user:7'));
  });

  it('does not show the text', () => {
    assert.equal(sealer.seal('provider-token', 'user:7').includes('provider-token'), false);
  });

  it('refuses another owner', () => {
    assert.throws(() => sealer.open(sealer.seal('token', 'user:7'), 'user:8'), SealError);
  });

  it('refuses another key', () => {
    const other = createSealer([randomBytes(32)]);
    assert.throws(() => other.open(sealer.seal('token', 'user:7'), 'user:7'), SealError);
  });

  it('opens what an older key of the ring has sealed, and seals with the first one', () => {
    const [newer, older] = [randomBytes(32), key];
    const ring = createSealer([newer, older]);
    assert.equal(ring.open(sealer.seal('token', 'user:7'), 'user:7').toString(), 'token');
    const sealed = ring.seal('token', 'user:7');
    assert.deepEqual(sealed.subarray(0, 5), ring.currentPrefix);
    assert.equal(createSealer([newer]).open(sealed, 'user:7').toString(), 'token');
    assert.equal(createSealer([older, newer]).open(sealed, 'user:7').toString(), 'token');
    assert.throws(() => sealer.open(sealed, 'user:7'), SealError);
    const plain = createSealer([newer]).seal('token', 'user:7');
    assert.equal(ring.open(plain, 'user:7').toString(), 'token');
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(index) ^ 1, index);
      assert.throws(() => ring.open(changed, 'user:7'), SealError, `byte ${index}`);
    }
  });

  it('refuses a value with any one byte changed', () => {
    const sealed = sealer.seal('token', 'user:7');
    for (let index = 0; index < sealed.length; index += 1) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(changed.readUInt8(index) ^ 1, index);
      assert.throws(() => sealer.open(changed, 'user:7'), SealError, `byte ${index}`);
    }
  });

  it('refuses a value that is cut short', () => {
    const sealed = sealer.seal('token', 'user:7');
    for (let length = 0; length < sealed.length; length += 1) {
      assert.throws(() => sealer.open(sealed.subarray(0, length), 'user:7'), SealError);
    }
  });

  it('opens a text again and again, and for its owner alone even when it is known', () => {
    const sealed = sealer.seal('olá', 'user:7');
    const changed = Buffer.from(sealed);
    changed.writeUInt8(changed.readUInt8(29) ^ 1, 29);
    for (let turn = 0; turn < 3; turn += 1) {
      assert.equal(sealer.openText(sealed, 'user:7'), 'olá');
      assert.throws(() => sealer.openText(sealed, 'user:8'), SealError);
      assert.throws(() => sealer.openText(changed, 'user:7'), SealError);
    }
  });

  it('remembers a bounded number of texts, and still opens those that it has forgotten', () => {
    const first = sealer.seal('first', 'user:1');
    assert.equal(sealer.openText(first, 'user:1'), 'first');
    for (let user = 2; user <= 10_100; user += 1) {
      assert.equal(
        sealer.openText(sealer.seal(`${user}`, `user:${user}`), `user:${user}`),
        `${user}`,
      );
    }
    assert.equal(sealer.openText(first, 'user:1'), 'first');
  });

  it('is not made from a key of another length', () => {
    assert.throws(() => createSealer([randomBytes(16)]), RangeError);
  });
});
