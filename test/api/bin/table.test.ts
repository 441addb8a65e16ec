import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { stripVTControlCharacters, styleText } from 'node:util';
import { formatTable, plainText, type Colour, type Column } from '../../../bin/table.ts';

const always = { validateStream: false };

interface Row {
  readonly id: string;
  readonly name: string;
  readonly amount: number;
}

const columns: readonly Column<Row>[] = [
  { head: 'ID', cell: ({ id }) => id, isWhole: true },
  { head: 'NAME', cell: ({ id, name }) => [name, id === 'b2' ? 'red' : null] },
  { head: 'AMOUNT', cell: ({ amount }) => amount, align: 'right', isWhole: true },
];

const rows: readonly Row[] = [
  { id: 'a1', name: 'Maria Aparecida da Conceição', amount: 7 },
  { id: 'b2', name: 'João', amount: 1234 },
];

const layout = (width: number | undefined, colour = (_: Colour, text: string) => text) =>
  formatTable({ columns, rows, width, colour }).split('\n');

describe('a table', () => {
  it('is as wide as it gets where the width is not known', () => {
    assert.deepEqual(layout(undefined), [
      'ID  NAME                          AMOUNT',
      'a1  Maria Aparecida da Conceição       7',
      'b2  João                            1234',
    ]);
  });

  it('has its widest columns cut to fit the terminal, and its ids left whole', () => {
    const lines = layout(30);
    assert.deepEqual(lines, [
      'ID  NAME                AMOUNT',
      'a1  Maria Aparecida d…       7',
      'b2  João                  1234',
    ]);
    assert.ok(lines.every((line) => line.length <= 30));
  });

  it('becomes a paragraph for each row where cutting is not enough', () => {
    assert.deepEqual(layout(15), [
      'ID      a1',
      'NAME    Maria Aparecida da Conceição',
      'AMOUNT  7',
      '',
      'ID      b2',
      'NAME    João',
      'AMOUNT  1234',
    ]);
  });

  it('colours heads and cells', () => {
    const lines = layout(undefined, (colour, text) => styleText(colour, text, always));
    assert.ok(lines[0]?.startsWith(styleText('dim', 'ID', always)));
    assert.ok(lines[2]?.includes(styleText('red', 'João', always)));
    assert.deepEqual(lines.map(stripVTControlCharacters), layout(undefined));
  });
});

describe('a cell', () => {
  it('never writes to the terminal but as text', () => {
    assert.equal(plainText('a\u001b[2Jb\u0007c\nd\u202ee'), 'ab c d e');
  });

  it('shows what is not there, and what is true', () => {
    assert.equal([null, undefined, '', true, false, 0].map(plainText).join(), '–,–,–,yes,no,0');
  });
});
