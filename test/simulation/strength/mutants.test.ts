/** The mutants of a statement, and the list of the surviving mutants. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { loadModule } from 'libpg-query';
import { moveStatements } from '../../../src/ledger/move-repository.ts';
import { createTestDatabase } from '../../support/db.ts';
import { openStore } from '../store.ts';
import { readKillers } from './killers.ts';
import { allMutants } from './mutants.ts';
import { findings, catchFault, nameOfScene, scenes } from './scenes.ts';
import { statementMutants } from './statement-mutants.ts';
import { reasons } from './survivors.ts';

const database = await createTestDatabase();
const store = await openStore({ folder: database.dataDir });
before(loadModule);
after(async () => {
  await store.close();
  await database.drop();
});

const listChanges = (text: string): string[] => statementMutants(text).map(({ change }) => change);

test('one mutant omits each condition of an and, at any depth', () => {
  const text = `
    select 1 from jobs j join lanes l on l.kind = j.kind
     where j.status = 'queued' and (j.id = 1 or j.wanted and j.run_at is not null)
       and not exists (select from jobs where id = any($1))`;
  assert.deepEqual(listChanges(text), [
    'without l.kind = j.kind',
    "without j.status = 'queued'",
    'without j.id = 1 or j.wanted and j.run_at is not null',
    'without not exists (select from jobs where id = any($1))',
    'without j.wanted',
    'without j.run_at is not null',
    'without id = any($1)',
  ]);
});

test('one mutant disables each branch of a case, and the name of an index stays unchanged', () => {
  const text = `
    insert into jobs (id, status)
    select 1, case when a.wanted then 'queued' else case a.kind when 'x' then 'done' end end
      from requested a on conflict (id) where status = 'queued' do nothing`;
  assert.deepEqual(listChanges(text), ['never when a.wanted', "never when 'x'"]);
});

test('mutants add each missing open phase to a list of phases, and remove each listed one', () => {
  const phases = ['RESERVED', 'RESOLVED', 'PAYING', 'ACCEPTED', 'UNKNOWN'];
  const expected = phases.map((phase) => {
    const isListed = phase === 'PAYING' || phase === 'UNKNOWN';
    return `PAYING or UNKNOWN ${isListed ? 'without' : 'and'} ${phase}`;
  });
  assert.deepEqual(listChanges(`select phase in ('PAYING', 'UNKNOWN')`), expected);
  assert.deepEqual(listChanges(`select '{PAYING,UNKNOWN}'::text[]`), expected);
  assert.deepEqual(listChanges(`select status in ('queued', 'running')`), []);
});

test('a mutant differs from the statement in one place', () => {
  const mutants = statementMutants(moveStatements.move.text);
  assert.ok(mutants.length > 0);
  assert.equal(new Set(mutants.map(({ text }) => text)).size, mutants.length);
});

test('mutants have unique names, and the lists contain only mutants', async () => {
  const names = (await allMutants()).map(({ name }) => name);
  assert.equal(new Set(names).size, names.length);
  const recorded = [...reasons.keys(), ...Object.keys(await readKillers())];
  assert.deepEqual(
    recorded.filter((name) => !names.includes(name)),
    [],
  );
});

test('each scene has its recorded result on the unchanged service', async () => {
  assert.deepEqual(scenes.map(nameOfScene).toSorted(), Object.keys(findings).toSorted());
  for (const scene of scenes)
    assert.equal(await catchFault(scene, store), null, nameOfScene(scene));
  // A statement that cannot run has the same result with every mutant.
  const broken = Object.entries(findings).filter(([, found]) => /error/i.test(String(found)));
  assert.deepEqual(broken, []);
});
