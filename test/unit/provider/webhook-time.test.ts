/** Reading a hostile payload takes time in proportion to its length. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heldMs, maxHeldMs } from '../../support/held.ts';
import { dialects } from '../../support/dialects.ts';

/** The longest payload that is read while the provider waits. */
const atOnceBytes = 4_096;

/** The longest payload, of which a job reads so many items before others have their turn. */
const storedBytes = 262_144;
const itemsAtATime = 256;

/** Another spelling of a name for each number. */
function spelled(name: string, number: number): string {
  let rest = number;
  let text = '';
  for (const letter of name) {
    text += rest % 2 === 1 ? letter.toUpperCase() : letter;
    rest = Math.floor(rest / 2);
  }
  return text + '_'.repeat(rest % 8) + ' '.repeat(Math.floor(rest / 8));
}

function some(count: number, member: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => member(index)).join(',');
}

/** A list of items, and around it as many members. */
function around(member: (index: number) => string): (count: number) => string {
  return (count) => `{${some(count, member)},"pix":[${some(count, () => '{"id":1}')}]}`;
}

const payloads: Readonly<Record<string, (count: number) => string>> = {
  'many spellings of a wrapper': around((n) => `"${spelled('data', n)}":{"status":"PAID"}`),
  'many spellings of a status': around((n) => `"${spelled('status', n)}":"PAID"`),
  'many spellings of an event': around((n) => `"${spelled('eventtype', n)}":"REFUND${n}"`),
  'a status of many fields': (count) =>
    `{"status":{${some(count, (n) => `"${n}":0`)}},"pix":[${some(count, () => '{"id":1}')}]}`,
  'a long status': (count) =>
    `{"status":"${'x'.repeat(8 * count)}","pix":[${some(count, () => '{"id":1}')}]}`,
  'many items': (count) => `[${some(count, () => '{"id":1}')}]`,
  'many spellings of an id': (count) => `{${some(count, (n) => `"${spelled('id', n)}":${n}`)}}`,
  'many spellings of a list': (count) =>
    `{${some(count, (n) => `"${spelled('pix', n)}":[{"id":1}]`)}}`,
};

/** The most members that fit. */
function sized(payload: (count: number) => string, bytes: number): unknown {
  let high = 1;
  while (payload(high).length <= bytes) high *= 2;
  let low = high / 2;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (payload(middle).length <= bytes) low = middle;
    else high = middle - 1;
  }
  return JSON.parse(payload(low));
}

for (const [name, payload] of Object.entries(payloads)) {
  test(`${name}: 4 KiB are read at once, and 256 items of 256 KiB, in less than 20 ms`, () => {
    const short = sized(payload, atOnceBytes);
    const atOnceMs = heldMs(() => void dialects.readEvents(short));
    assert.ok(atOnceMs < maxHeldMs, `${atOnceMs.toFixed(1)} ms`);
    const long = sized(payload, storedBytes);
    const pieceMs = heldMs(() => void dialects.eachEvent(long).take(itemsAtATime).toArray());
    assert.ok(pieceMs < maxHeldMs, `${pieceMs.toFixed(1)} ms`);
  });
}

test('spellings of an id agree however many there are, and the last one may contradict', () => {
  const ids = some(100, (n) => `"${spelled('endtoendid', n)}":"E1"`);
  const paid = '"amount":10.5,"status":"PAID"';
  const [agreed] = dialects.readEvents(JSON.parse(`{${ids},${paid}}`));
  const last = `"${spelled('endtoendid', 100)}":"E2"`;
  const [contradicted] = dialects.readEvents(JSON.parse(`{${ids},${last},${paid}}`));
  assert.equal(agreed?.ignoredBecause, null);
  assert.equal(contradicted?.ignoredBecause, 'contradictory_id');
});

test('nesting does not exhaust the stack, and another value still contradicts', () => {
  for (const [open, close] of ['[]', ['{"a":', '}']]) {
    const depth = Math.floor(storedBytes / 2 / `${open}${close}`.length) - 40;
    const nested = `${`${open}`.repeat(depth)}0${`${close}`.repeat(depth)}`;
    const because = (members: string) => {
      const payload = Buffer.from(`{${members},"endToEndId":"E1","amount":10.5,"status":"PAID"}`);
      return dialects.eachStoredEvent(payload).next().value?.ignoredBecause;
    };
    assert.equal(because(`"note":${nested}`), null);
    assert.equal(because(`"EndToEndId":${nested}`), 'contradictory_id');
    assert.equal(because(`"note":${nested},"note":{}`), 'contradictory_member');
  }
});
