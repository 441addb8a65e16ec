/** No function of the domain that reads what a person types is slow on a text of any length. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { encodeStaticBrCode } from '../../../src/provider/sandbox/bank/br-code.ts';
import { dayRange } from '../../../src/domain/calendar.ts';
import { normaliseCep, toState } from '../../../src/domain/cep.ts';
import { isEmail, toE164 } from '../../../src/domain/contact.ts';
import { passwordError, readAddress, readPerson } from '../../../src/domain/person.ts';
import { normalisePixKey } from '../../../src/domain/pix-key.ts';
import { parsePixCursor } from '../../../src/domain/pix-cursor.ts';
import { taxIdKind } from '../../../src/domain/tax-id.ts';
import { isUuid, normalised } from '../../../src/domain/text.ts';
import { continueTrace } from '../../../src/domain/trace-context.ts';
import { heldMs, maxHeldMs } from '../../support/held.ts';

const length = 262_144;

const texts: Readonly<Record<string, string>> = {
  'combining marks': `a${'\u0301'.repeat(length / 2)}${'\u0323'.repeat(length / 2)}`,
  blanks: ' '.repeat(length),
  letters: 'a'.repeat(length),
  digits: '1'.repeat(length),
  hyphens: '-'.repeat(length),
  'at signs': '@'.repeat(length),
  labels: `a@${'a.'.repeat(length / 2)}`,
  emoji: '😀'.repeat(length / 2),
  'invisible characters': '\u200b'.repeat(length),
};

const person = (text: string) => ({
  name: text,
  email: text,
  password: text,
  password_confirmation: text,
  document: text,
  phone: text,
});

const address = (text: string) => ({
  cep: text,
  logradouro: text,
  numero: text,
  complemento: text,
  bairro: text,
  cidade: text,
  estado: text,
});

const readers: Readonly<Record<string, (text: string) => unknown>> = {
  normalisePixKey,
  toE164,
  taxIdKind,
  normaliseCep,
  isEmail,
  isUuid,
  toState,
  parsePixCursor,
  passwordError,
  readPerson: (text) => readPerson(person(text)),
  readAddress: (text) => readAddress(address(text)),
  dayRange: (text) => dayRange(text, text, new Date(0)),
  continueTrace: (text) => continueTrace({ traceparent: text, tracestate: text }, (id) => id),
  encodeStaticBrCode: (text) =>
    encodeStaticBrCode({
      key: 'ana@example.com',
      receiverName: text,
      city: text,
      description: text,
    }),
};

describe('a text of 256 KiB', () => {
  for (const [name, read] of Object.entries(readers)) {
    it(`does not keep ${name} busy`, () => {
      for (const [kind, text] of Object.entries(texts)) {
        const ms = heldMs(() => void read(text));
        assert.ok(ms < maxHeldMs, `${kind}: ${ms.toFixed(1)} ms`);
      }
    });
  }

  it('is never normalised', () => {
    for (const form of ['NFC', 'NFD'] as const) {
      assert.throws(() => normalised('a'.repeat(1_025), form), RangeError);
      assert.equal(normalised('a'.repeat(1_024), form).length, 1_024);
    }
  });
});
