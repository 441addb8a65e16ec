/** A program on a terminal that is real to it: `script` of util-linux or Python makes one. */
import assert from 'node:assert/strict';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { stripVTControlCharacters } from 'node:util';

type Maker = (command: string) => readonly [program: string, ...args: string[]];

const python =
  'import os,pty,sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(["/bin/sh","-c",sys.argv[1]])))';

/** What can make a terminal here, or null. */
export const makeTerminal: Maker | null = findMaker();

function findMaker(): Maker | null {
  const said = (program: string, ...args: string[]): string =>
    spawnSync(program, args, { encoding: 'utf8' }).stdout ?? '';
  if (said('script', '--version').includes('util-linux')) {
    return (command) => ['script', '-qefc', command, '/dev/null'];
  }
  if (said('python3', '-c', 'import pty; print("pty")').includes('pty')) {
    return (command) => ['python3', '-c', python, command];
  }
  return null;
}

/** Longer than anything here takes on a busy machine; only a test that fails waits so long. */
const patienceMs = 30_000;

export interface TerminalOptions {
  readonly columns: number;
  readonly rows: number;
  readonly cwd: string;
  readonly environment: Readonly<Record<string, string>>;
}

export class PseudoTerminal {
  readonly #child: ChildProcess;
  readonly #ended: Promise<unknown[]>;
  /** All that was written, control sequences included. */
  written = '';
  #since = 0;
  #look: () => void = () => undefined;

  /** Starts a command of the shell on a terminal of that size. */
  constructor(make: Maker, command: string, options: TerminalOptions) {
    const { columns, rows, cwd, environment } = options;
    const [program, ...args] = make(`stty cols ${columns} rows ${rows} && exec ${command}`);
    const env = { TERM: 'xterm-256color', ...environment };
    this.#child = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'inherit'] });
    this.#ended = once(this.#child, 'close');
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      this.written += chunk.toString('utf8');
      this.#look();
    });
  }

  /** Waits until this has been written since something was typed last. */
  async until(what: string): Promise<void> {
    const seen = (): string => stripVTControlCharacters(this.written.slice(this.#since));
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const late = setTimeout(() => resolve(false), patienceMs);
    this.#look = () => {
      if (seen().includes(what)) resolve(true);
    };
    this.#look();
    const isSeen = await promise;
    clearTimeout(late);
    assert.ok(isSeen, `waited in vain for ${what} in\n${seen()}`);
  }

  type(text: string): void {
    this.#since = this.written.length;
    this.#child.stdin?.write(text);
  }

  /** @returns its exit code, once it has ended. */
  async ended(): Promise<number | null> {
    const [code] = (await this.#ended) as [number | null];
    return code;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
