import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { PersonDocument } from '../../../../../src/provider/provider.ts';
import type { Person } from '../../../../../src/provider/sandbox/bank/rows.ts';
import { openStateFile } from '../../../../../src/provider/sandbox/bank/state-file.ts';
import { applicant, applied, makeDocument, parseSteps } from '../../applicant.ts';
import { openBank } from './open-bank.ts';

/** Opens banks on one file. Each is left as a crash leaves it: none is closed. */
async function oneFile(context: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'ponte-bank-'));
  context.after(() => rm(folder, { recursive: true }));
  const path = join(folder, 'state.jsonl');
  const open = () => {
    const file = openStateFile(path);
    context.after(() => file.close());
    return openBank({ file }).provider;
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
      const { licence: _, residence: __, selfie: ___, ...others } = parseSteps(provider, id);
      for (const step of Object.values(others)) await step();
      for (const tipoDocumento of types) {
        await provider.submitDocument({ personId: id, document: makeDocument({ tipoDocumento }) });
      }
      assert.equal((await provider.kyc({ personId: id })).status, decision);
    });
  }
});

it('a bank that starts again knows the persons that it registered, and their steps', async (t) => {
  const { open } = await oneFile(t);
  const before = open();
  const id = await applied(before);
  const decided = await before.kyc({ personId: id });
  const session = await before.startLivenessCheck({ personId: id });
  const half = { ...applicant, document: '12345678909', email: 'maria@example.com' };
  const { pessoaFisicaId: other } = await before.registerPerson(half);
  await before.requestValidation({ personId: other, tipo: 1 });

  const provider = open();
  assert.equal(decided.status, 'APPROVED');
  assert.deepEqual(await provider.kyc({ personId: id }), decided);
  assert.deepEqual(await provider.startLivenessCheck({ personId: id }), session);
  assert.equal((await provider.registerPerson(half)).pessoaFisicaId, other);
  await provider.confirmValidation({ personId: other, codigo: 'ABC123', tipo: 1 });
  const { account } = await provider.login({ email: applicant.email, password: 'any' });
  assert.equal(account.document, applicant.document);
});

it('a repeated step is not saved again, and a document only by its length and hash', async (t) => {
  const { open, written } = await oneFile(t);
  const provider = open();
  await applied(provider);
  const once = await written();
  const id = await applied(provider);
  assert.equal(await written(), once);
  const other: PersonDocument = makeDocument({ chunks: [Buffer.from('other content')] });
  await provider.submitDocument({ personId: id, document: other });
  const last = JSON.parse((await written()).trimEnd().split('\n').at(-1) ?? '') as Person;
  assert.deepEqual(last.steps.at(-1), {
    name: 'document',
    tipoDocumento: 1,
    sizeBytes: 13,
    sha256: '923b805711041e23a99f07e146591c500261d1c289f62a9d39f8581ceb8a10ca',
  });
  assert.doesNotMatch(await written(), /PDF|other content|ABC123/);
});
