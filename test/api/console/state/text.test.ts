/** Texts, lists and tables as lines of a known width. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { moveInList } from '../../../../console/hooks/use-list.ts';
import { cellText, layOutTable, memberColumns } from '../../../../console/state/table.ts';
import { withElapsed } from '../../../../console/state/notice.ts';
import {
  splitCharacters,
  cut,
  factLines,
  joinHints,
  moreText,
  visibleRows,
  measureWidth,
  wrap,
} from '../../../../console/state/text.ts';

describe('a text', () => {
  it('is broken between words, and within a word that is too long', () => {
    assert.deepEqual(wrap('to be or not', 5), ['to be', 'or', 'not']);
    assert.deepEqual(wrap('an abcdefgh x', 4), ['an', 'abcd', 'efgh', 'x']);
    assert.deepEqual(wrap('abcdefg x', 4), ['abcd', 'efg', 'x']);
    assert.deepEqual(wrap('', 4), ['']);
  });

  it('is measured in columns: a wide character has two, with or without a skin tone', () => {
    for (const wide of ['👍', '👍🏽', '👩🏾‍🦱', '日']) {
      assert.deepEqual([splitCharacters(wide).length, measureWidth(wide)], [1, 2], wide);
      assert.equal(cut(`${wide}${wide}${wide}`, 5), `${wide}${wide}…`);
      assert.deepEqual(wrap(`${wide}${wide} ${wide}`, 4), [`${wide}${wide}`, wide]);
      assert.deepEqual(wrap(`${wide}${wide}${wide}`, 5), [`${wide}${wide}`, wide]);
    }
    assert.deepEqual(wrap('日本', 1), ['日', '本']);
    assert.equal(cut('ação', 4), 'ação');
  });

  it('keeps its own lines, and their indentation', () => {
    assert.deepEqual(wrap('{\n  "a": 1\n}', 20), ['{', '  "a": 1', '}']);
  });

  it('of facts has two columns', () => {
    const facts = [
      ['Name', 'Ana Maria'],
      ['No', null],
    ] as const;
    assert.deepEqual(
      factLines(facts, 12).map(({ text }) => text),
      ['Name  Ana', '      Maria', 'No    –'],
    );
  });

  it('of key hints takes as many lines as it needs, and breaks no hint', () => {
    assert.deepEqual(joinHints(['a b', 'c d', 'e f'], 9), ['a b · c d', 'e f']);
  });
});

describe('the notice of work under way', () => {
  const sending = { kind: 'busy', text: 'Sending …', slow: 'It is slow.' } as const;

  it('says the seconds, and what to know once it takes long', () => {
    const texts = [0, 1, 2, 3, 60].map((seconds) => withElapsed(sending, seconds).text);
    assert.deepEqual(texts, [
      'Sending …',
      'Sending … (1 s)',
      'Sending … (2 s)',
      'Sending … (3 s). It is slow.',
      'Sending … (60 s). It is slow.',
    ]);
  });

  it('of another kind has no seconds', () => {
    const failed = { kind: 'error', text: 'No.' } as const;
    assert.equal(withElapsed(failed, 9), failed);
  });
});

describe('visible rows', () => {
  const rows = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

  it('are all rows where they fit', () => {
    assert.deepEqual(visibleRows(rows, [3, 3], 10), { rows, more: '' });
  });

  it('include the focused ones, with a note of what does not fit', () => {
    for (const focused of rows) {
      const visible = visibleRows(rows, [focused, Math.min(9, focused + 1)], 5);
      assert.ok(visible.rows.includes(focused), `${focused}`);
      assert.equal(visible.rows.length, 4);
    }
    assert.equal(visibleRows(rows, [4, 4], 5).more, '↑ 2 more   ↓ 4 more');
    assert.equal(moreText(0, 0), '');
  });
});

describe('a table', () => {
  it('keeps its columns in line under a name with an emoji', () => {
    const rows = [
      { who: 'Ana 👍🏽', what: 'Rent' },
      { who: 'Bruno Souza', what: 'Lunch' },
    ];
    const table = layOutTable(memberColumns(['who', 'what'], cellText), rows, 40);
    const widths = table.rows.map((cells) => cells.map(({ text }) => measureWidth(text)));
    assert.deepEqual(widths, [
      [11, 5],
      [11, 5],
    ]);
  });
});

describe('a list', () => {
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
      assert.equal(moveInList(key, from, { pageSize: 10, last: 24 }), to);
    });
  }
});

describe('a table', () => {
  const columns = memberColumns(['firstName', 'age'], cellText);
  const people = [
    { firstName: 'Ana', age: 7 },
    { firstName: 'Maximiliano', age: 42 },
  ];
  const lines = (width: number): string[] => {
    const { head, rows } = layOutTable(columns, people, width);
    return [head, ...rows.map((cells) => cells.map(({ text }) => text).join('  '))];
  };

  it('is as wide as its content, with numbers on the right', () => {
    assert.deepEqual(lines(40), ['FIRST NAME   AGE', 'Ana            7', 'Maximiliano   42']);
  });

  it('cuts a column that is too wide, and leaves out a column without room', () => {
    assert.deepEqual(lines(10), ['FIRST NAME', 'Ana       ', 'Maximilia…']);
  });
});
