/** Texts, tables and forms as lines of a known width. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newForm, reduceForm, type Field } from '../../../console/model/form.ts';
import { focusedRows, formRows, type FormRow } from '../../../console/model/form-rows.ts';
import { footOf } from '../../../console/model/foot.ts';
import { factLines, moreText, windowOf, wrapped } from '../../../console/model/lines.ts';
import { moved, pageStart } from '../../../console/model/list.ts';
import {
  longMoment,
  shortMoment,
  shortUtcMoment,
  utcMoment,
} from '../../../console/model/moments.ts';
import { tableOf } from '../../../console/model/table.ts';

describe('a text', () => {
  it('is broken between words, and within a word that is too long', () => {
    assert.deepEqual(wrapped('to be or not', 5), ['to be', 'or', 'not']);
    assert.deepEqual(wrapped('an abcdefgh x', 4), ['an', 'abcd', 'efgh', 'x']);
    assert.deepEqual(wrapped('abcdefg x', 4), ['abcd', 'efg', 'x']);
    assert.deepEqual(wrapped('', 4), ['']);
  });

  it('keeps its own lines, and what they begin with', () => {
    assert.deepEqual(wrapped('{\n  "a": 1\n}', 20), ['{', '  "a": 1', '}']);
  });

  it('of facts stands in two columns', () => {
    const lines = factLines(
      [
        ['Name', 'Ana Maria'],
        ['No', null],
      ],
      12,
    );
    assert.deepEqual(
      lines.map(({ text }) => text),
      ['Name  Ana', '      Maria', 'No    –'],
    );
  });

  it('of keys takes as many lines as it needs', () => {
    assert.deepEqual(footOf(['aa', 'bb', 'cc'], 8), ['aa · bb', 'cc']);
  });
});

describe('a window', () => {
  const rows = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

  it('shows all where all fits', () => {
    assert.deepEqual(windowOf(rows, { from: 3, to: 3 }, 10), { rows, above: 0, below: 0 });
  });

  it('always shows what must be seen, and says how much it leaves out', () => {
    for (const seen of rows) {
      const window = windowOf(rows, { from: seen, to: Math.min(9, seen + 1) }, 5);
      assert.ok(window.rows.includes(seen), `${seen}`);
      assert.equal(window.rows.length, 4);
      assert.equal(window.above + window.rows.length + window.below, 10);
    }
    assert.equal(moreText({ above: 2, below: 3 }), '↑ 2 more   ↓ 3 more');
    assert.equal(moreText({ above: 0, below: 0 }), '');
  });
});

describe('a list', () => {
  const size = { count: 25, pageSize: 10 };
  const moves: readonly (readonly [key: string, from: number, to: number | null])[] = [
    ['down', 0, 1],
    ['down', 24, 24],
    ['up', 0, 0],
    ['pagedown', 3, 13],
    ['pagedown', 20, 24],
    ['pageup', 13, 3],
    ['end', 3, 24],
    ['home', 13, 0],
    ['enter', 3, null],
  ];
  for (const [key, from, to] of moves) {
    it(`goes from ${from} to ${to} by ${key}`, () => {
      assert.equal(moved({ key: key as 'up', text: '' }, from, size), to);
    });
  }

  it('is seen by the page', () => {
    assert.deepEqual(
      [0, 9, 10, 24].map((index) => pageStart(index, 10)),
      [0, 0, 10, 20],
    );
  });
});

describe('a table', () => {
  interface Person {
    readonly name: string;
    readonly age: string;
  }
  const columns = [
    { head: 'NAME', cell: ({ name }: Person) => name },
    { head: 'AGE', align: 'right', cell: ({ age }: Person) => age },
  ] as const;
  const people = [
    { name: 'Ana', age: '7' },
    { name: 'Maximiliano', age: '42' },
  ];
  const linesOf = (width: number): string[] => {
    const { head, rows } = tableOf(columns, people, width);
    return [head, ...rows.map((cells) => cells.map(({ text }) => text).join('  '))];
  };

  it('is as wide as what is in it', () => {
    assert.deepEqual(linesOf(40), ['NAME         AGE', 'Ana            7', 'Maximiliano   42']);
  });

  it('is cut where it is too wide, and drops a column without room', () => {
    assert.deepEqual(linesOf(10), ['NAME      ', 'Ana       ', 'Maximilia…']);
  });
});

describe('a time', () => {
  it('is the one of São Paulo for customers', () => {
    assert.equal(shortMoment('2026-11-21T02:49:13.437Z'), '20/11 23:49');
    assert.equal(longMoment('2026-11-21T02:49:13.437Z'), '2026-11-20 23:49:13');
  });

  it('is the one of UTC for operators, and says so', () => {
    assert.equal(shortUtcMoment('2026-11-21T02:49:13.437Z'), '11-21 02:49Z');
    assert.equal(utcMoment('2026-11-21T02:49:13.437Z'), '2026-11-21 02:49:13Z');
  });

  it('that is none stays as it is', () => {
    for (const say of [shortMoment, longMoment, shortUtcMoment, utcMoment]) {
      assert.equal(say('–'), '–');
    }
  });
});

describe('a form', () => {
  const fields: readonly Field[] = [
    { name: 'amount', label: 'Amount', kind: 'money', hint: 'such as 25,00' },
    { name: 'text', label: 'Text', kind: 'text', initial: 'abcdefghij' },
    { name: 'password', label: 'Password', kind: 'secret', initial: 'xyz' },
  ];
  const shape = { fields, faults: {}, required: new Set(['amount']), button: 'Go', columns: 18 };
  const textsOf = (rows: readonly FormRow[]): string[] =>
    rows.map((row) => ('text' in row ? row.text : ''));

  it('reads an amount back while it is typed, and shows the hint before', () => {
    const state = newForm(fields);
    assert.equal(textsOf(formRows({ ...shape, columns: 40, state }))[1], 'such as 25,00');
    const action = { type: 'fill', values: { amount: '1234,5' } } as const;
    const filled = formRows({ ...shape, columns: 40, state: reduceForm(state, action, fields) });
    assert.equal(textsOf(filled)[1], '= R$ 1.234,50');
  });

  it('shows of a long value the part around the cursor, and nothing of a secret', () => {
    const state = reduceForm(newForm(fields), { type: 'focus', by: 1 }, fields);
    const seen = formRows({ ...shape, state })[1];
    assert.ok(seen?.kind === 'field');
    assert.deepEqual([seen.text, seen.cursor], ['ghij', 4]);
    assert.deepEqual(textsOf(formRows({ ...shape, state: newForm(fields) })).slice(-4), [
      ...['abcd…', '•••', '', 'Go'],
    ]);
  });

  it('knows where the focus is, with what is said below it', () => {
    const rows = formRows({ ...shape, state: newForm(fields), faults: { amount: 'No no.' } });
    assert.deepEqual(focusedRows(rows), { from: 0, to: 2 });
  });
});
