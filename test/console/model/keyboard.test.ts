/** Keys, as terminals deliver them. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pressesOf } from '../../../console/model/keyboard.ts';

const text = (character: string) => ({ key: 'text', text: character });
const named = (key: string) => ({ key, text: '' });

it('takes what comes at once apart, key by key', () => {
  const presses = [text('a'), text('é'), named('tab'), text('b'), named('enter')];
  assert.deepEqual(pressesOf('aé\tb\r', {}), presses);
});

it('knows keys by their names, whatever text they come with', () => {
  assert.deepEqual(pressesOf('\r', { return: true }), [named('enter')]);
  assert.deepEqual(pressesOf('', { upArrow: true }), [named('up')]);
  assert.deepEqual(pressesOf('', { tab: true, shift: true }), [named('shift+tab')]);
  assert.deepEqual(pressesOf('n', { ctrl: true }), [named('ctrl+n')]);
});

it('takes no notice of what is no text and no key of ours', () => {
  assert.deepEqual(pressesOf('x', { meta: true }), []);
  assert.deepEqual(pressesOf('\u0000', {}), []);
  assert.deepEqual(pressesOf('', { ctrl: true }), []);
});
