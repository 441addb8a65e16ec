/** Every sample of every dialect reads as the file beside it says. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { dialectNames } from '../../../../src/config/formats.ts';
import { readSample, type Sample } from '../../../../src/provider/dialect/samples.ts';
import { dialects } from '../../../support/dialects.ts';
import { shapes } from '../webhook-shapes.ts';

const folder = new URL('../../../../contract/provider/dialects/', import.meta.url);

it('the names of the setting are the dialects of the folder', () => {
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));
  assert.deepEqual(files.toSorted(), dialectNames.map((name) => `${name}.yaml`).toSorted());
});

for (const dialect of dialectNames) {
  describe(`the samples of ${dialect}`, () => {
    const text = readFileSync(new URL(`${dialect}.samples.json`, folder), 'utf8');
    for (const { name, reads, isWhole, ...message } of JSON.parse(text) as Sample[]) {
      it(name, () => {
        const read = readSample(dialects, message);
        assert.deepEqual([read.items.map(({ result }) => result), read.isWhole], [reads, isWhole]);
      });
    }
  });
}

describe('an event of Woovi reads the same with the other name before its word', () => {
  const text = readFileSync(new URL('woovi.samples.json', folder), 'utf8');
  const renamed = JSON.parse(text.replaceAll('OPENPIX:', 'woovi:')) as Sample[];
  for (const { name, reads, ...message } of renamed) {
    it(name, () => {
      const { items } = readSample(dialects, message);
      assert.deepEqual(
        items.map(({ result }) => result),
        reads,
      );
    });
  }
});

describe('an event of the provider', () => {
  for (const { title, payload, event } of shapes) {
    // These two dialects declare that the bank's id is that of one payment.
    const isDeclared = /^(celcoin|ponte)\//.test(event.shape ?? '') && event.kind !== 'refund';
    const isNamedAlone = isDeclared && event.ids.providerTxid !== null;
    const read = { ...event, ...(isNamedAlone && { isNamedAlone: true }) };
    it(title, () => assert.deepEqual(dialects.readEvents(payload), [read]));
    it(`${title}, in an array`, () => {
      assert.deepEqual(dialects.readEvents([{}, payload])[1], { ...read, index: 1 });
    });
  }
});
