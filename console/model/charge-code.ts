/** Where the code of a charge has room. */
import type { Charge } from '../../contract/types.ts';
import { codeSize, drawnCode, type CodeRoom, type DrawnCode } from './qr-code.ts';
import { isTooSmall, type WindowSize } from './window.ts';

/** The copy-and-paste text of a charge, wherever the provider has put it; empty without one. */
export function copyText({ copy_paste: text, qr_code: code = '' }: Charge): string {
  return text ?? (code.startsWith('000201') ? code : '');
}

/** What is above and below a code in its frame: the head, the status, the notice and the keys. */
const framedRows = 7;

/** What stands beside a code that has the whole height: the widest key, and some space. */
const besideColumns = 26;

/**
 * Draws a code on the whole height of a window, with the words beside it: the usual 80×24 has no
 * room for it otherwise.
 * @returns null where it has room in its frame, or no room at all.
 */
export function lonelyCode(text: string, window: WindowSize, isDark: boolean): DrawnCode | null {
  const { columns, rows } = window;
  if (text === '' || isTooSmall(window) || codeSize(text).rows + framedRows <= rows) return null;
  return drawnCode(text, { columns: columns - besideColumns, rows }, isDark);
}

/** The smallest window that a code can be seen in. */
export function windowForCode(text: string): CodeRoom {
  const { columns, rows } = codeSize(text);
  return { columns: columns + besideColumns, rows };
}
