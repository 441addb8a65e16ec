/**
 * The keyboard. One queue reads every key and passes it to the shown screen once the key before it
 * has been drawn: what a person types fast reaches the field or the question that it is meant for.
 * Components that read the keyboard themselves, such as Select of `@inkjs/ui`, would bypass it.
 */
import { useInput, usePaste, type Key } from 'ink';
import { createContext, useContext, useEffect, useLayoutEffect, useRef, useState } from 'react';

export interface Press {
  /** The name of the key, such as `enter` or `ctrl+s`; `text` for a character, or `paste`. */
  readonly key: string;
  /** The character or the pasted text; empty for every other key. */
  readonly text: string;
}

type Listener = (press: Press) => void;

export interface Keyboard {
  current: Listener | null;
  /** Whether the shown screen takes characters as a text. */
  isTyping?: boolean;
}

export const KeyboardContext = createContext<Keyboard>({ current: null });

/**
 * Listens to the keyboard while the component is shown.
 * @param options.isTyping whether a character belongs to a text.
 */
export function useKeys(listener: Listener, options: { readonly isTyping?: boolean } = {}): void {
  const keyboard = useContext(KeyboardContext);
  useLayoutEffect(() => {
    keyboard.current = listener;
    keyboard.isTyping = options.isTyping === true;
    return () => {
      if (keyboard.current === listener) keyboard.current = null;
    };
  });
}

interface KeyboardOptions {
  /** Whether keys are dropped, except ctrl+c. */
  readonly isDeaf: boolean;
  /** Takes the keys that work on every screen. @returns whether it uses the key. */
  onPress(press: Press, isTyping: boolean): boolean;
}

/** The queue. */
export function useKeyboard({ isDeaf, onPress }: KeyboardOptions): Keyboard {
  const keyboard = useRef<Listener | null>(null);
  const queue = useRef<Press[]>([]);
  const isBusy = useRef(false);
  const [taken, setTaken] = useState(0);
  // React commits what a key has changed together with `taken`: then the next key can follow.
  useEffect(() => {
    const press = queue.current.shift();
    isBusy.current = press !== undefined;
    if (!press) return;
    const { isTyping = false } = keyboard as Keyboard;
    if (!onPress(press, isTyping)) keyboard.current?.(press);
    setTaken((count) => count + 1);
  }, [taken]);
  const add = (presses: readonly Press[]): void => {
    const heard = presses.filter(({ key }) => !isDeaf || key === 'ctrl+c');
    queue.current.push(...heard);
    if (isBusy.current || heard.length === 0) return;
    isBusy.current = true;
    setTaken((count) => count + 1);
  };
  useInput((input, key) => add(readPresses(input, key)));
  usePaste((text) => add([{ key: 'paste', text }]));
  return keyboard;
}

const modifiers = ['ctrl', 'shift', 'meta', 'super', 'hyper', 'capsLock', 'numLock'];

/** Reads one event of Ink. On a slow line it holds several keys: a text with its enter key. */
export function readPresses(input: string, key: Partial<Key>): Press[] {
  const flags = Object.entries(key).filter(([, value]) => value === true);
  const name = flags.find(([flag]) => !modifiers.includes(flag))?.[0];
  if (name === 'return') return [{ key: 'enter', text: '' }];
  if (name === 'tab' && key.shift) return [{ key: 'shift+tab', text: '' }];
  // Ink calls the arrows `upArrow` and so on.
  if (name) return [{ key: name.replace('Arrow', '').toLowerCase(), text: '' }];
  if (key.ctrl) return input === '' ? [] : [{ key: `ctrl+${input}`, text: '' }];
  return key.meta ? [] : [...input].flatMap(readCharacter);
}

function readCharacter(character: string): Press[] {
  const code = character.charCodeAt(0);
  if (character === '\r' || character === '\n') return [{ key: 'enter', text: '' }];
  if (character === '\t') return [{ key: 'tab', text: '' }];
  if (character === '\u007F' || character === '\b') return [{ key: 'backspace', text: '' }];
  // Terminals send ctrl+a to ctrl+z as the codes 1 to 26.
  if (code >= 1 && code <= 26) return [{ key: `ctrl+${String.fromCharCode(code + 96)}`, text: '' }];
  return /\p{Cc}/u.test(character) ? [] : [{ key: 'text', text: character }];
}
