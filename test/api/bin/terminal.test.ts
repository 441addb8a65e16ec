import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { describe, it } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import { createTerminal, type Terminal } from '../../../bin/output.ts';

interface Screen {
  readonly isTTY?: boolean;
  readonly hasColours?: boolean;
  readonly columns?: number;
}

function open({ isTTY = false, hasColours = true, columns }: Screen): {
  terminal: Terminal;
  stdout: PassThrough;
  stderr: PassThrough;
} {
  const tty = { isTTY, columns, hasColors: () => hasColours };
  const stdout = Object.assign(new PassThrough(), tty);
  const stderr = Object.assign(new PassThrough(), tty);
  const stdin = Object.assign(new PassThrough(), { isTTY });
  return { terminal: createTerminal({ stdin, stdout, stderr }), stdout, stderr };
}

/** What has been written so far; without colours. */
async function readText(stream: PassThrough): Promise<string> {
  stream.end();
  return stripVTControlCharacters(Buffer.concat((await stream.toArray()) as Buffer[]).toString());
}

describe('a terminal', () => {
  it('has colours, unless the environment says no', () => {
    assert.equal(open({ isTTY: true }).terminal.colour('red', 'no'), '\u001b[31mno\u001b[39m');
    // `hasColors` of a terminal is false under NO_COLOR.
    assert.equal(open({ isTTY: true, hasColours: false }).terminal.colour('red', 'no'), 'no');
  });

  it('that is a file or a pipe has none, and no prompts', () => {
    const { terminal } = open({});
    assert.equal(terminal.colour('red', 'no'), 'no');
    assert.equal(terminal.isInteractive, false);
    assert.equal(open({ isTTY: true }).terminal.isInteractive, true);
  });

  it('writes results to one stream and notes to the other', async () => {
    const { terminal, stdout, stderr } = open({ isTTY: true, columns: 12 });
    const columns = [{ head: 'NAME', cell: (name: string) => name }];
    terminal.table({ columns, rows: ['Maria Aparecida'], none: 'No users.' });
    terminal.table({ columns, rows: [], none: 'No users.' });
    terminal.details([['name', 'Maria']]);
    terminal.note('look');
    terminal.json({ name: 'Maria' });
    assert.deepEqual(
      [await readText(stdout), await readText(stderr)],
      ['NAME\nMaria Apare…\nname  Maria\n{\n  "name": "Maria"\n}\n', 'No users.\nlook\n'],
    );
  });

  it('escapes what would control it, in every output, and JSON stays JSON', async () => {
    const { terminal, stdout, stderr } = open({});
    const stored = 'a\u009b2J\u202eb\u0007';
    terminal.json({ stored });
    terminal.note(stored);
    const written = await readText(stdout);
    assert.deepEqual(JSON.parse(written), { stored });
    for (const text of [written, await readText(stderr)]) {
      assert.doesNotMatch(text, /[\u007f-\u009f\u202e\u0007]/);
    }
  });
});
