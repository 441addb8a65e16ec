/** What a key does to a form. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  formKey,
  newForm,
  reduceForm,
  valueOf,
  type Field,
  type FormState,
} from '../../../console/model/form.ts';
import type { KeyName } from '../../../console/model/keyboard.ts';

const fields: readonly Field[] = [
  { name: 'name', label: 'Name', kind: 'text', initial: 'Ana' },
  { name: 'kind', label: 'Kind', kind: 'text', choices: { one: 'the one', two: 'the other' } },
  { name: 'again', label: 'Again', kind: 'flag' },
];

/** Presses keys; a text in quotes is typed, one in brackets is pasted. */
function after(state: FormState, ...presses: readonly string[]): FormState {
  return presses.reduce((now, press) => {
    const [, mark, text = ''] = /^(['[])(.*)$/s.exec(press) ?? [];
    const typed = mark === '[' ? 'paste' : 'text';
    const key = (mark === undefined ? press : typed) as KeyName;
    const action = formKey(now, fields, { key, text });
    return action === null || action === 'submit' ? now : reduceForm(now, action, fields);
  }, state);
}

const values = ({ values: found }: FormState) => found;

describe('a form', () => {
  it('begins with what stands there at first, in its first field, at its end', () => {
    assert.deepEqual(newForm(fields), {
      values: { name: 'Ana', kind: 'one', again: 'no' },
      filledIn: {},
      focus: 'name',
      cursor: 3,
      refusals: {},
      isAsked: false,
    });
  });

  const typings: readonly (readonly [keys: string[], name: string, cursor: number])[] = [
    [["'!"], 'Ana!', 4],
    [['left', "'n"], 'Anna', 3],
    [['left', 'left', 'left', 'left', "'H"], 'HAna', 1],
    [['backspace', 'backspace'], 'A', 1],
    [['home', 'delete'], 'na', 0],
    [['home', 'backspace'], 'Ana', 0],
    [['delete'], 'Ana', 3],
    [['ctrl+u', "'B", 'ctrl+a', "'x", 'ctrl+e', "'y"], 'xBy', 3],
    [["'😀", 'backspace', "'ã"], 'Anaã', 4],
    [['[Maria\nda\tSilva'], 'AnaMaria da Silva', 17],
    [['up', "'x", 'backspace'], 'Ana', 0],
  ];
  for (const [keys, name, cursor] of typings) {
    it(`takes ${JSON.stringify(keys)} as ${JSON.stringify(name)}`, () => {
      const state = after(newForm(fields), ...keys);
      assert.deepEqual([values(state)['name'], state.cursor], [name, cursor]);
    });
  }

  it('goes round from field to field and over the button', () => {
    let state = newForm(fields);
    const seen = ['down', 'enter', 'tab', 'down', 'up', 'shift+tab', 'up'].map((key) => {
      state = after(state, key);
      return state.focus;
    });
    assert.deepEqual(seen, ['kind', 'again', '', 'name', '', 'again', 'kind']);
  });

  it('lets a value be picked, round and round, and not be typed', () => {
    const state = after(newForm(fields), 'down', "'x", 'backspace', 'right');
    assert.equal(values(state)['kind'], 'two');
    assert.equal(values(after(state, 'right'))['kind'], 'one');
    assert.equal(values(after(state, "' "))['kind'], 'one');
    assert.equal(values(after(state, 'left', 'left', 'down', 'right'))['again'], 'yes');
  });

  it('is sent by enter on the button, and by ctrl+s anywhere', () => {
    const press = (state: FormState, key: KeyName) => formKey(state, fields, { key, text: '' });
    assert.equal(press(newForm(fields), 'ctrl+s'), 'submit');
    assert.equal(press(after(newForm(fields), 'up'), 'enter'), 'submit');
    assert.notEqual(press(newForm(fields), 'enter'), 'submit');
  });

  it('shows what is refused at its first field, until that is changed', () => {
    const faults = { '': 'No.', kind: 'Not this one.', again: 'Nor this.' };
    const refused = reduceForm(newForm(fields), { type: 'refuse', faults }, fields);
    assert.equal(refused.focus, 'kind');
    assert.deepEqual(after(refused, 'right').refusals, { again: 'Nor this.' });
    assert.deepEqual(reduceForm(refused, { type: 'refuse', faults: {} }, fields).refusals, {});
  });

  it('stays where it is when what is refused is none of its fields', () => {
    const action = { type: 'refuse', faults: { account: 'None.' } } as const;
    assert.equal(reduceForm(newForm(fields), action, fields).focus, 'name');
  });

  it('asks for what is missing, at the first field', () => {
    const action = { type: 'ask', faults: { again: 'Required.' } } as const;
    const { isAsked, focus } = reduceForm(newForm(fields), action, fields);
    assert.deepEqual([isAsked, focus], [true, 'again']);
  });

  it('is filled in from elsewhere, with the cursor behind', () => {
    const action = { type: 'fill', values: { name: 'Bruno' } } as const;
    const state = reduceForm(newForm(fields), action, fields);
    assert.deepEqual([values(state)['name'], state.cursor], ['Bruno', 5]);
  });

  it('has a value for a field that has come later', () => {
    const late: Field = { name: 'late', label: 'Late', kind: 'text', initial: 'x' };
    assert.equal(valueOf(newForm(fields), late), 'x');
  });
});
