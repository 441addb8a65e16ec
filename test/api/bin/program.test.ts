/** The frame: help, wrong usage, exit codes, and the completion of the commands. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join, relative } from 'node:path';
import { PassThrough } from 'node:stream';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { describeCommands } from '../../../bin/completion.ts';
import { loadProgram } from '../../../bin/program.ts';
import { typePonte, type Ended } from '../../support/command-line.ts';

const nowhere = { APP_ENV: 'test', DATA_DIR: '/nonexistent/ponte' };

const type = (...argv: string[]): Promise<Ended> => typePonte(argv, { environment: nowhere });

/** Every command, groups and `ponte` itself among them, by its path. */
function everyCommand(command: Command, path = 'ponte'): (readonly [string, Command])[] {
  const below = command.commands.map((one) => everyCommand(one, `${path} ${one.name()}`));
  return [[path, command], ...below.flat()];
}

describe('the help', () => {
  let help = '';
  const output = new PassThrough().on('data', (chunk: Buffer) => (help += chunk.toString()));
  const streams = { stdin: new PassThrough(), stdout: output, stderr: new PassThrough() };
  let program: Command;

  before(async () => {
    program = await loadProgram({ version: '0.0.0', streams }, 'all');
  });

  it('of every command says what it does and has an example that names it', async () => {
    const commands = everyCommand(program);
    assert.ok(commands.length > 30, 'the tree was walked');
    for (const [path, command] of commands) {
      help = '';
      command.outputHelp();
      await new Promise((resolve) => setImmediate(resolve));
      const [, example] = /\nExamples?:(.*)$/s.exec(help) ?? [];
      assert.ok(example?.includes(path), `${path} has no example of itself`);
      assert.notEqual(command.description(), '', path);
    }
  });

  it('of every option and argument says what it is', () => {
    for (const [path, command] of everyCommand(program)) {
      for (const { flags, description } of command.options) assert.ok(description, path + flags);
      for (const one of command.registeredArguments) assert.ok(one.description, path + one.name());
    }
  });

  it('is printed by ponte alone, and by --help', async () => {
    const alone = await type();
    assert.equal(alone.code, 0);
    assert.match(alone.stdout, /^Usage: ponte .*Commands:/s);
    assert.deepEqual(await type('--help'), alone);
  });
});

describe('the files of commands', () => {
  const root = join(import.meta.dirname, '..', '..', '..');

  /** The modules of the project that a process loads, and the packages. */
  function loadedBy(...argv: string[]): string[] {
    const hooks = `import { registerHooks } from 'node:module';
      const load = (url, context, next) => {
        if (url.startsWith('file:')) process.stderr.write(url + '\\n');
        return next(url, context);
      };
      registerHooks({ load });`;
    const { stderr } = spawnSync(
      process.execPath,
      ['--import', `data:text/javascript,${encodeURIComponent(hooks)}`, 'bin/ponte.ts', ...argv],
      { encoding: 'utf8', cwd: root },
    );
    const files = stderr
      .trim()
      .split('\n')
      .map((url) => relative(root, fileURLToPath(url)));
    const loaded = files.map((file) => file.replace(/^(node_modules\/[^/]+).*/, '$1'));
    return [...new Set(loaded)].toSorted();
  }

  const always = ['bin/exit-codes.ts', 'bin/ponte.ts', 'bin/program.ts', 'node_modules/commander'];

  for (const option of ['--help', '--version']) {
    it(`are not loaded by ponte ${option}`, () => {
      assert.deepEqual(loadedBy(option), always);
    });
  }

  it('are loaded when their noun is typed, without the service', () => {
    const loaded = loadedBy('user', 'list', '--help');
    assert.deepEqual(
      loaded.filter((file) => /^(?:bin\/commands|src)\//.test(file)),
      ['bin/commands/user.ts', 'src/domain/text.ts'],
    );
  });
});

describe('the word help', () => {
  for (const [typed, path] of [
    ['help', ''],
    ['help user', 'user'],
    ['help user create', 'user create'],
    ['user help create', 'user create'],
    // With any other arguments, nothing is done.
    ['help user disable 42', 'user disable'],
  ] as const) {
    it(`ponte ${typed} shows the help of ponte ${path}`.trimEnd(), async () => {
      const option = await type(...path.split(' ').filter(Boolean), '--help');
      assert.equal(option.code, 0);
      assert.deepEqual(await type(...typed.split(' ')), option);
    });
  }

  it('is a value where a value is expected', async () => {
    const { code, stderr } = await type('user', 'list', '--email', 'help');
    assert.deepEqual([code, stderr.slice(0, 20)], [1, 'ponte: there is no d']);
  });
});

describe('what was typed wrongly', () => {
  const wrong: readonly (readonly [argv: string[], says: RegExp])[] = [
    [['usr'], /unknown command 'usr'\n\(Did you mean user\?\)/],
    [['user', 'lst'], /unknown command 'lst'\n\(Did you mean list\?\)/],
    [['user', 'list', '--jsn'], /unknown option '--jsn'\n\(Did you mean --json\?\)/],
    [['user', 'list', '--limit', '0'], /--limit .* It must be an integer from 1 to 1000\./],
    [['user', 'list', '--status', 'GONE'], /Allowed choices are ACTIVE, DISABLED/],
    [['user', 'list', 'maria'], /too many arguments/],
    [['user', 'disable'], /missing required argument 'user'/],
    [['user', 'disable', 'maria'], /It must be the id or the e-mail of a user/],
    [['user', 'create', '--name', 'Ana'], /required option '--email <address>' not specified/],
    [['user'], /^Usage: ponte user /],
    [['session', 'revoke', 'abc'], /'abc' .* It must be the id of a session, or the id or e-mail/],
    [['help', 'usr'], /unknown command 'usr'\n\(Did you mean user\?\)/],
    [['help', 'user', 'lst'], /unknown command 'lst'\n\(Did you mean list\?\)/],
    [['user', 'help', 'lst'], /unknown command 'lst'\n\(Did you mean list\?\)/],
    [['completion', 'tcsh'], /Allowed choices are bash, zsh, fish/],
  ];
  for (const [argv, says] of wrong) {
    it(`ponte ${argv.join(' ')}: exit 2, on standard error`, async () => {
      const { code, stdout, stderr } = await type(...argv);
      assert.deepEqual({ code, stdout }, { code: 2, stdout: '' });
      assert.match(stderr, says);
    });
  }
});

describe('the completion', () => {
  it('of each shell knows every command and every option', async () => {
    const streams = {
      stdin: new PassThrough(),
      stdout: new PassThrough(),
      stderr: new PassThrough(),
    };
    const commands = describeCommands(await loadProgram({ version: '0.0.0', streams }, 'all'));
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { stdout } = await type('completion', shell);
      for (const { path, options } of commands) {
        assert.ok(stdout.includes(`'${path}'`), `${shell} does not know ${path}`);
        for (const { flag } of options) {
          const known = shell === 'fish' ? `-l ${flag.slice(2)} ` : flag;
          assert.ok(stdout.includes(known), `${shell} does not know ${flag}`);
        }
      }
    }
  });

  describe('in bash', { skip: !hasBash() && 'needs bash' }, () => {
    let responses: Record<string, string[]>;
    const lines = [
      'us',
      'user d',
      'user list --st',
      'user list --status ',
      'user list --status D',
      'user list --status = A',
      'pix list --phase R',
      'keys generate --out /us',
      'user list --email ',
      'completion ',
      'user list ',
      'help us',
      'help user d',
      'user help d',
    ];

    before(async () => {
      const { stdout: script } = await type('completion', 'bash');
      const queries = lines.map((line) => {
        const words = ['ponte', ...line.split(' ')].map((word) => `'${word}'`).join(' ');
        return `COMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _ponte
          (IFS=,; echo "\${COMPREPLY[*]}")`;
      });
      const { stdout, stderr } = spawnSync('bash', ['--norc', '--noprofile'], {
        encoding: 'utf8',
        input: `${script}\n${script}\n${queries.join('\n')}\n`,
      });
      assert.equal(stderr, '');
      const answered = stdout.split('\n').map((line) => (line === '' ? [] : line.split(',')));
      responses = Object.fromEntries(lines.map((line, at) => [line, answered[at] ?? []]));
    });

    it('offers commands', () => {
      assert.deepEqual(responses['us'], ['user']);
      assert.deepEqual(responses['user d'], ['disable']);
      assert.deepEqual(responses['completion '], ['bash', 'zsh', 'fish']);
    });

    it('offers commands behind help', () => {
      assert.deepEqual(responses['help us'], ['user']);
      assert.deepEqual(responses['help user d'], ['disable']);
      assert.deepEqual(responses['user help d'], ['disable']);
    });

    it('offers options, also where no command can follow', () => {
      assert.deepEqual(responses['user list --st'], ['--status']);
      assert.ok(responses['user list ']?.includes('--json'));
    });

    it('offers the values of an option, with a blank or a sign between', () => {
      assert.deepEqual(responses['user list --status '], ['ACTIVE', 'DISABLED']);
      assert.deepEqual(responses['user list --status D'], ['DISABLED']);
      assert.deepEqual(responses['user list --status = A'], ['ACTIVE']);
      assert.deepEqual(responses['pix list --phase R'], ['RESERVED', 'RESOLVED', 'REJECTED']);
    });

    it('offers files where one is expected, and nothing for free text', () => {
      assert.deepEqual(responses['keys generate --out /us'], ['/usr']);
      assert.deepEqual(responses['user list --email '], []);
    });
  });
});

function hasBash(): boolean {
  return spawnSync('bash', ['-c', 'true']).status === 0;
}
