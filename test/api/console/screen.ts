/**
 * The console for a test: drawn by Ink as ever, on a terminal of any size that is not there. Plain
 * Node does not read .tsx, so tsx loads the console; it lets go at once, and sees nothing else.
 */
import assert from 'node:assert/strict';
import { stripVTControlCharacters } from 'node:util';
import { register } from 'tsx/esm/api';
import type { AppProps } from '../../../console/app.tsx';
import { eventually } from '../../support/eventually.ts';
import { afterFile } from '../../support/suite.ts';

// React is fast in production, Ink asks for the terminal's size at once, and colours are wanted.
Object.assign(process.env, {
  NODE_ENV: 'production',
  COLUMNS: '60',
  LINES: '20',
  FORCE_COLOR: '1',
});

const unregister = register();
const [{ createElement }, { render }, { App }, { Api }] = await Promise.all([
  import('react'),
  import('ink-testing-library'),
  import('../../../console/app.tsx'),
  import('../../../console/api.ts'),
]);
await unregister();

export { Api };

export interface ScreenOptions extends Partial<Omit<AppProps, 'api'>> {
  /** Where the service is. */
  readonly url: string;
  readonly columns?: number;
  readonly rows?: number;
}

const keys = {
  enter: '\r',
  // As terminals with the kitty protocol send it: the bare byte may begin another key.
  escape: '\u001B[27u',
  up: '\u001B[A',
  down: '\u001B[B',
  right: '\u001B[C',
  left: '\u001B[D',
  pageup: '\u001B[5~',
  pagedown: '\u001B[6~',
  tab: '\t',
  backspace: '\u007F',
  'ctrl+c': '\u0003',
  'ctrl+g': '\u0007',
  'ctrl+l': '\u000C',
  'ctrl+n': '\u000E',
  'ctrl+p': '\u0010',
  'ctrl+r': '\u0012',
  'ctrl+s': '\u0013',
  'ctrl+t': '\u0014',
  'ctrl+u': '\u0015',
} as const;

export type ScreenKey = keyof typeof keys;

/** Longer than anything here takes on a busy machine; only a test that fails waits so long. */
const patienceMs = 30_000;

/** More than any form has. */
const maxFields = 25;

export class Screen {
  readonly #app: ReturnType<typeof render>;
  #look: () => void = () => undefined;

  constructor({ url, columns = 60, rows = 20, ...props }: ScreenOptions) {
    this.#app = render(
      createElement(App, {
        api: new Api(url),
        operate: null,
        hasColours: true,
        login: { email: '', password: '' },
        ...props,
      }),
    );
    const { stdout } = this.#app;
    const write = stdout.write.bind(stdout);
    stdout.write = (frame) => {
      write(frame);
      this.#look();
    };
    this.resize(columns, rows);
  }

  /** What is written on it now, line by line, without colours and without spaces at the ends. */
  get lines(): string[] {
    return stripVTControlCharacters(this.raw)
      .split('\n')
      .map((line) => line.trimEnd());
  }

  get text(): string {
    return this.lines.join('\n');
  }

  /** What is written on it now, colours included. */
  get raw(): string {
    return this.#app.lastFrame() ?? '';
  }

  resize(columns: number, rows: number): void {
    Object.defineProperties(this.#app.stdout, {
      columns: { value: columns, configurable: true },
      rows: { value: rows, configurable: true },
    });
    this.#app.stdout.emit('resize');
  }

  /** Waits until this is written on it; a text may be broken over lines there. */
  async until(what: string | RegExp | ((text: string) => boolean)): Promise<string> {
    const isThere = (): boolean => {
      if (typeof what === 'function') return what(this.text);
      if (typeof what !== 'string') return what.test(this.text);
      return this.text.replaceAll(/\s+/g, ' ').includes(what);
    };
    if (isThere()) return this.text;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const late = setTimeout(() => resolve(false), patienceMs);
    this.#look = () => {
      if (isThere()) resolve(true);
    };
    const isSeen = await promise;
    clearTimeout(late);
    this.#look = () => undefined;
    assert.ok(isSeen, `waited in vain for ${String(what)} on\n${this.text}`);
    return this.text;
  }

  /** Presses keys, one after the other. */
  async press(...names: readonly ScreenKey[]): Promise<void> {
    for (const name of names) await this.#write(keys[name]);
  }

  /** Types a text by hand. */
  async type(text: string): Promise<void> {
    await this.#write(text);
  }

  /** Goes to the field with this label, to the button, or to the row that begins so. */
  async focus(label: string): Promise<void> {
    for (let step = 0; step < maxFields; step += 1) {
      const { focused } = this;
      if (focused.startsWith(` › ${label}`)) return;
      await this.press('down');
      await this.until(() => this.focused !== focused);
    }
    assert.fail(`there is no ${label} on\n${this.text}`);
  }

  /** The line that has the focus. */
  get focused(): string {
    return this.lines.find((line) => line.startsWith(' › ')) ?? '';
  }

  /** Waits until a key that is pressed is heard. */
  async listens(): Promise<void> {
    await eventually(() => this.#app.stdin.listenerCount('readable') > 0, 'the keyboard');
  }

  /** Waits until the console has ended by itself. */
  async ended(): Promise<void> {
    await eventually(() => this.#app.stdin.listenerCount('readable') === 0, 'the end');
  }

  /** Replaces the values of fields, which their labels identify. */
  async fill(values: Readonly<Record<string, string>>): Promise<void> {
    for (const [label, value] of Object.entries(values)) {
      await this.focus(label);
      await this.press('ctrl+u');
      await this.#write(`\u001B[200~${value}\u001B[201~`);
    }
  }

  close(): void {
    this.#app.unmount();
  }

  /** A key is worked on by the time that the event loop has turned a few times. */
  async #write(bytes: string): Promise<void> {
    this.#app.stdin.write(bytes);
    for (let turn = 0; turn < 2 * bytes.length + 2 && turn < 100; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

/** Opens the console; it is closed after the tests of the file at the latest. */
export async function openScreen(options: ScreenOptions): Promise<Screen> {
  const screen = new Screen(options);
  afterFile(() => screen.close());
  const { columns = 60 } = options;
  await screen.until((text) => text.split('\n').every((line) => line.length <= columns));
  await screen.listens();
  return screen;
}
