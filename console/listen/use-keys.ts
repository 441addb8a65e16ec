/** One listener at a time: the screen that is shown. */
import { useInput, usePaste } from 'ink';
import { createContext, useContext, useLayoutEffect, useRef } from 'react';
import { pressesOf, type Press } from '../model/keyboard.ts';

export type Listener = (press: Press) => void;

/** Where the shown screen leaves its listener. */
export interface Keyboard {
  current: Listener | null;
}

export const KeyboardContext = createContext<Keyboard>({ current: null });

/** Listens to the keyboard while the component is shown. */
export function useKeys(listener: Listener): void {
  const keyboard = useContext(KeyboardContext);
  useLayoutEffect(() => {
    keyboard.current = listener;
    return () => {
      if (keyboard.current === listener) keyboard.current = null;
    };
  });
}

/**
 * Hands each key on only when the screen has been drawn after the one before: what a fast hand
 * types next goes to the screen, the field and the question that it is meant for.
 */
export function useKeyboard({ isDeaf }: { readonly isDeaf: boolean }): Keyboard {
  const keyboard = useRef<Listener | null>(null);
  const waiting = useRef<Press[]>([]);
  const next = (): void => {
    const [press] = waiting.current;
    if (!press) return;
    keyboard.current?.(press);
    setImmediate(() => {
      waiting.current.shift();
      next();
    });
  };
  const add = (presses: readonly Press[]): void => {
    if (isDeaf) return;
    const isIdle = waiting.current.length === 0;
    waiting.current.push(...presses);
    if (isIdle) next();
  };
  useInput((input, key) => add(pressesOf(input, key)));
  usePaste((text) => add([{ key: 'paste', text }]));
  return keyboard;
}
