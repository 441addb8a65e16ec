/** The names of institutions, and the list of participants that they come from. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import participants from '../../../src/domain/participants.json' with { type: 'json' };
import { bankOf, participantName } from '../../../src/domain/bank.ts';

test('a participant of Pix has its name, and any other institution none', () => {
  assert.equal(participantName('00000000'), 'Banco do Brasil S.A.');
  assert.equal(participantName('60701190'), 'ITAÚ UNIBANCO S.A.');
  assert.equal(participantName('99999999'), null);
});

test('the institution of the customers has one name, also where it is the other side', () => {
  const own = { ispb: '11165756', name: 'Banco Exemplo S.A.', document: '11165756000107' };
  assert.deepEqual(bankOf('11165756', own), own);
  const other = { ispb: '00000000', name: 'Banco do Brasil S.A.' };
  assert.deepEqual(bankOf('00000000', own), other);
});

test('the list of participants says its date and what it covers, and names each once', () => {
  assert.match(participants.date, /^\d{4}-\d{2}-\d{2}$/);
  assert.match(participants.about.join(' '), /Central Bank/);
  const list = Object.entries(participants.names);
  assert.ok(list.length > 250, 'the large participants are there');
  const wrong = list.filter(([ispb, name]) => {
    const isName = name.length <= 60 && name === name.trim() && !/[^\p{L}\d .,&'/()-]/u.test(name);
    return !/^[0-9A-Z]{8}$/.test(ispb) || !isName;
  });
  assert.deepEqual(wrong, []);
});
