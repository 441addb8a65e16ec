import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { PersonDocument } from '../../../src/provider/provider.ts';
import { openJournal } from '../../../src/provider/stub/journal.ts';
import { applicant, applied, documentOf, stepsOf } from '../applicant.ts';
import { openBank } from './open-bank.ts';

/** Opens banks on one journal; each is left as a crash leaves it, closed by nobody. */
async function oneJournal(context: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'ponte-journal-'));
  context.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'journal.jsonl');
  const open = async () => {
    const journal = await openJournal(path);
    context.after(() => journal.close());
    return openBank({ journal }).provider;
  };
  return { open, written: () => readFile(path, 'utf8') };
}

describe('the documents that the bank wants', () => {
  const cases: readonly [readonly number[], string][] = [
    [[1, 5, 6], 'APPROVED'],
    [[2, 5, 6], 'APPROVED'],
    [[6, 5, 2, 1, 21], 'APPROVED'],
    [[1, 2, 5], 'PENDING'],
    [[1, 2, 6], 'PENDING'],
    [[5, 6], 'PENDING'],
    [[3, 5, 6], 'PENDING'],
  ];
  for (const [types, decision] of cases) {
    it(`${types.join(', ')}: ${decision}`, async () => {
      const { provider } = openBank();
      const { pessoaFisicaId: id } = await provider.registerPerson(applicant);
      const { licence: _, residence: __, selfie: ___, ...others } = stepsOf(provider, id);
      for (const step of Object.values(others)) await step();
      for (const tipoDocumento of types) {
        await provider.submitDocument({ personId: id, document: documentOf({ tipoDocumento }) });
      }
      assert.equal((await provider.kyc({ personId: id })).status, decision);
    });
  }
});

it('a bank that starts anew knows whom it has registered, and how far they had come', async (t) => {
  const { open } = await oneJournal(t);
  const before = await open();
  const id = await applied(before);
  const decided = await before.kyc({ personId: id });
  const session = await before.startLivenessCheck({ personId: id });
  const half = { ...applicant, document: '12345678909', email: 'maria@example.com' };
  const { pessoaFisicaId: other } = await before.registerPerson(half);
  await before.requestValidation({ personId: other, tipo: 1 });

  const provider = await open();
  assert.equal(decided.status, 'APPROVED');
  assert.deepEqual(await provider.kyc({ personId: id }), decided);
  assert.deepEqual(await provider.startLivenessCheck({ personId: id }), session);
  assert.equal((await provider.registerPerson(half)).pessoaFisicaId, other);
  await provider.confirmValidation({ personId: other, codigo: 'ABC123', tipo: 1 });
  const { account } = await provider.login({ email: applicant.email, password: 'any' });
  assert.equal(account.document, applicant.document);
});

it('a repeated step is not written again, and a document only by its length and hash', async (t) => {
  const { open, written } = await oneJournal(t);
  const provider = await open();
  await applied(provider);
  const once = await written();
  const id = await applied(provider);
  assert.equal(await written(), once);
  const other: PersonDocument = documentOf({ chunks: [Buffer.from('other content')] });
  await provider.submitDocument({ personId: id, document: other });
  const last = JSON.parse((await written()).trimEnd().split('\n').at(-1) ?? '') as object;
  assert.deepEqual(last, {
    entry: 'person_step',
    atMs: Date.parse('2026-05-24T12:00:00Z'),
    email: 'joao@example.com',
    personId: id,
    step: {
      name: 'document',
      tipoDocumento: 1,
      sizeBytes: 13,
      sha256: '923b805711041e23a99f07e146591c500261d1c289f62a9d39f8581ceb8a10ca',
    },
  });
  assert.doesNotMatch(await written(), /PDF|other content|ABC123/);
});
