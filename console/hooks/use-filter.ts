/** The rows of a list that have a text, which a person types after `/`. */
import { useState } from 'react';
import type { Column, Row } from '../state/table.ts';
import type { Press } from './use-keys.ts';

export interface Filter {
  readonly rows: readonly Row[];
  /** Whether characters belong to the text. */
  readonly isTyping: boolean;
  /** The text for the title of the list; empty without a filter. */
  readonly title: string;
  /** @returns whether the filter uses the key. */
  press(press: Press): boolean;
}

/** Filters rows by the texts of their columns; esc shows all rows again. */
export function useFilter(all: readonly Row[], columns: readonly Column[]): Filter {
  const [wanted, setWanted] = useState<string | null>(null);
  const [isTyping, setTyping] = useState(false);
  const part = (wanted ?? '').toLowerCase();
  const hasPart = (row: Row): boolean =>
    columns.some(({ cell }) => cell(row).toLowerCase().includes(part));
  const change = (text: string | null, types: boolean): true => {
    setWanted(text);
    setTyping(types);
    return true;
  };
  return {
    rows: part === '' ? all : all.filter(hasPart),
    isTyping,
    title: wanted === null ? '' : ` /${wanted}${isTyping ? '▏' : ''}`,
    press({ key, text }) {
      if (key === 'escape' && wanted !== null) return change(null, false);
      if (!isTyping) return key === 'text' && text === '/' && change('', true);
      if (key === 'enter') return change(wanted, false);
      if (key === 'backspace') return change((wanted ?? '').slice(0, -1), true);
      return key === 'text' && change(`${wanted ?? ''}${text}`, true);
    },
  };
}
