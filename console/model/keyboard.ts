/** What the keyboard says, key by key, however a terminal happens to deliver it. */
import type { Key } from 'ink';

export type KeyName =
  | 'text'
  | 'paste'
  | 'enter'
  | 'escape'
  | 'tab'
  | 'shift+tab'
  | 'up'
  | 'down'
  | 'left'
  | 'right'
  | 'home'
  | 'end'
  | 'pageup'
  | 'pagedown'
  | 'backspace'
  | 'delete'
  | `ctrl+${string}`;

export interface Press {
  readonly key: KeyName;
  /** What is typed: one character, or all that is pasted; empty for every other key. */
  readonly text: string;
}

const named = [
  ['escape', 'escape'],
  ['upArrow', 'up'],
  ['downArrow', 'down'],
  ['leftArrow', 'left'],
  ['rightArrow', 'right'],
  ['home', 'home'],
  ['end', 'end'],
  ['pageUp', 'pageup'],
  ['pageDown', 'pagedown'],
  ['backspace', 'backspace'],
  ['delete', 'delete'],
  ['return', 'enter'],
] as const;

/**
 * Reads one event of the terminal. On a slow line several keys come as one event: a text with its
 * enter key, or a letter twice.
 */
export function pressesOf(input: string, key: Partial<Key>): Press[] {
  const name = named.find(([flag]) => key[flag])?.[1];
  if (name !== undefined) return [pressOf(name)];
  if (key.tab) return [pressOf(key.shift ? 'shift+tab' : 'tab')];
  if (key.ctrl) return input === '' ? [] : [pressOf(`ctrl+${input}`)];
  if (key.meta) return [];
  return [...input].flatMap(typedPress);
}

function pressOf(key: KeyName): Press {
  return { key, text: '' };
}

function typedPress(character: string): Press[] {
  if (character === '\r' || character === '\n') return [pressOf('enter')];
  if (character === '\t') return [pressOf('tab')];
  return /\p{Cc}/u.test(character) ? [] : [{ key: 'text', text: character }];
}
