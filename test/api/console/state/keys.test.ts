/** Keys, as terminals deliver them. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { readPresses } from '../../../../console/hooks/use-keys.ts';

const text = (character: string) => ({ key: 'text', text: character });
const named = (key: string) => ({ key, text: '' });

it('several keys in one event are read one by one', () => {
  const presses = [text('a'), text('é'), named('tab'), text('b'), named('enter')];
  assert.deepEqual(readPresses('aé\tb\r', {}), presses);
  assert.deepEqual(readPresses('5\u007F\u0013', {}), [
    text('5'),
    named('backspace'),
    named('ctrl+s'),
  ]);
});

it('keys have names, whatever text they come with', () => {
  assert.deepEqual(readPresses('\r', { return: true }), [named('enter')]);
  assert.deepEqual(readPresses('', { upArrow: true }), [named('up')]);
  assert.deepEqual(readPresses('', { pageDown: true, ctrl: false }), [named('pagedown')]);
  assert.deepEqual(readPresses('', { tab: true, shift: true }), [named('shift+tab')]);
  assert.deepEqual(readPresses('', { tab: true }), [named('tab')]);
  assert.deepEqual(readPresses('n', { ctrl: true }), [named('ctrl+n')]);
});

it('other input is ignored', () => {
  assert.deepEqual(readPresses('x', { meta: true }), []);
  assert.deepEqual(readPresses('\u0000', {}), []);
  assert.deepEqual(readPresses('', { ctrl: true }), []);
});
