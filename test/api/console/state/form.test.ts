/** How a key changes a form. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Press } from '../../../../console/hooks/use-keys.ts';
import type { Field } from '../../../../console/state/contract.ts';
import {
  blockingFaults,
  fieldValue,
  fillIn,
  isSubmit,
  newForm,
  pressForm,
  readValues,
  refuse,
  type FormState,
} from '../../../../console/state/form.ts';

const field = (name: string, rest: Partial<Field> = {}): Field => ({
  name,
  in: 'body',
  label: name,
  kind: 'text',
  isRequired: false,
  isSecret: false,
  ...rest,
});

const fields: readonly Field[] = [
  field('name', { initial: 'Ana', isRequired: true }),
  field('kind', { choices: { one: 'the one', two: 'the other' } }),
  field('again', { kind: 'flag', choices: { no: 'no', yes: 'yes' } }),
];
const [name, kind, again] = fields as [Field, Field, Field];

/** A key by its name; a text after ' is typed, one after [ is pasted. */
function readPress(press: string): Press {
  const text = press.slice(1);
  if (press.startsWith("'")) return { key: 'text', text };
  return press.startsWith('[') ? { key: 'paste', text } : { key: press, text: '' };
}

function after(state: FormState, ...presses: readonly string[]): FormState {
  return presses.reduce((now, press) => pressForm(now, fields, readPress(press)), state);
}

describe('a form', () => {
  it('begins in its first field, at the end of its initial value', () => {
    const state = newForm(fields);
    assert.deepEqual([state.focus, state.cursor, fieldValue(state, name)], ['name', 3, 'Ana']);
    assert.deepEqual([fieldValue(state, kind), fieldValue(state, again)], ['one', 'no']);
  });

  const typings: readonly (readonly [keys: string[], value: string, cursor: number])[] = [
    [["'!"], 'Ana!', 4],
    [['left', "'n"], 'Anna', 3],
    [['left', 'left', 'left', 'left', "'H"], 'HAna', 1],
    [['backspace', 'backspace'], 'A', 1],
    [['home', 'delete'], 'na', 0],
    [['home', 'backspace'], 'Ana', 0],
    [['delete'], 'Ana', 3],
    [['ctrl+u', "'B", 'ctrl+a', "'x", 'ctrl+e', "'y"], 'xBy', 3],
    [["'😀", 'backspace', "'ã"], 'Anaã', 4],
    [["'👍🏽", 'backspace', "'ã"], 'Anaã', 4],
    [['[Maria\nda\tSilva'], 'AnaMaria da Silva', 17],
    [['ctrl+u', '[\r\n4b3c\r\n'], '4b3c', 4],
    [['ctrl+u', '[ two words \n'], ' two words ', 11],
    [['up', "'x", 'backspace'], 'Ana', 0],
  ];
  for (const [keys, value, cursor] of typings) {
    it(`reads ${JSON.stringify(keys)} as ${JSON.stringify(value)}`, () => {
      const state = after(newForm(fields), ...keys);
      assert.deepEqual([fieldValue(state, name), state.cursor], [value, cursor]);
    });
  }

  it('moves the focus from field to field, over the button, and round', () => {
    let state = newForm(fields);
    const seen = ['down', 'enter', 'tab', 'down', 'up', 'shift+tab', 'up'].map((key) => {
      state = after(state, key);
      return state.focus;
    });
    assert.deepEqual(seen, ['kind', 'again', '', 'name', '', 'again', 'kind']);
  });

  it('has values to choose from, which cannot be typed', () => {
    const state = after(newForm(fields), 'down', "'x", 'backspace', 'right');
    assert.equal(fieldValue(state, kind), 'two');
    assert.equal(fieldValue(after(state, 'right'), kind), 'one');
    assert.equal(fieldValue(after(state, "' "), kind), 'one');
    assert.equal(fieldValue(after(state, 'left', 'left', 'down', 'right'), again), 'yes');
  });

  it('is sent by enter on the button, and by ctrl+s anywhere', () => {
    const state = newForm(fields);
    assert.equal(isSubmit(state, readPress('ctrl+s')), true);
    assert.equal(isSubmit(after(state, 'up'), readPress('enter')), true);
    assert.equal(isSubmit(state, readPress('enter')), false);
  });

  it('stays the same form when it does not use a key', () => {
    const state = newForm(fields);
    assert.equal(after(state, 'escape', 'ctrl+r', 'pageup'), state);
  });
});

describe('the faults of a form', () => {
  it('move the focus to the first field that has one, and go when it is edited', () => {
    const faults = { '': 'No.', kind: 'Not this one.', again: 'Nor this.' };
    const refused = refuse(newForm(fields), fields, faults);
    assert.equal(refused.focus, 'kind');
    assert.deepEqual(after(refused, 'right').faults, { again: 'Nor this.' });
    assert.deepEqual(refuse(refused, fields, {}).faults, {});
  });

  it('that belong to no field leave the focus where it is', () => {
    assert.equal(refuse(newForm(fields), fields, { account: 'None.' }).focus, 'name');
  });

  it('go when the field is filled in, which is remembered', () => {
    const state = fillIn(refuse(newForm(fields), fields, { name: 'No.' }), { name: 'Eva' });
    assert.deepEqual([state.faults, state.filledIn, state.cursor], [{}, { name: 'Eva' }, 3]);
  });

  it('block it when a required field is empty or a number cannot be read', () => {
    const numbers = [
      field('name', { isRequired: true }),
      field('amount', { kind: 'amount' }),
      field('other', { kind: 'amount' }),
      field('count', { kind: 'integer' }),
    ];
    const state = fillIn(newForm(numbers), { amount: '1.000', other: '1.000,00', count: '1,5' });
    assert.deepEqual(blockingFaults(state, numbers), {
      name: 'The field is required.',
      amount: 'An amount, such as 25 or 1.234,56.',
      count: 'A whole number, such as 600.',
    });
  });
});

it('the values of a form leave out what is empty, and numbers are numbers', () => {
  const charged = [
    field('amount', { kind: 'amount', initial: '1.234,50' }),
    field('expiration_qr', { kind: 'integer', initial: '600' }),
    field('reusable', { kind: 'flag', initial: 'yes' }),
    field('single', { kind: 'flag', initial: 'no' }),
    field('city'),
  ];
  assert.deepEqual(readValues(newForm(charged), charged), {
    amount: 1234.5,
    expiration_qr: 600,
    reusable: true,
  });
});
