/** A question that the next key answers: `y` agrees, and every other key declines. */
import { useState } from 'react';
import { question, type Notice } from '../state/notice.ts';
import type { Press } from './use-keys.ts';

export interface Question {
  /** The open question. */
  readonly notice: Notice | null;
  ask(text: string, agree: () => void, decline?: () => void): void;
  /** @returns whether a question was open, which the key answers. */
  press(press: Press): boolean;
}

export function useQuestion(): Question {
  const [open, setOpen] = useState<{ text: string; agree(): void; decline?(): void } | null>(null);
  return {
    notice: question(open?.text),
    ask: (text, agree, decline) => setOpen({ text, agree, ...(decline && { decline }) }),
    press({ text }) {
      if (!open) return false;
      setOpen(null);
      if (text === 'y') open.agree();
      else open.decline?.();
      return true;
    },
  };
}
