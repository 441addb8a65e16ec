/**
 * The cursor of a list of transactions, newest first: the position of the last item that was read.
 * It holds a time and an id of the caller's own transaction, and grants nothing: a list is always
 * of the caller.
 */
import { isUuid } from './text.ts';

/** A position in the list: after the transaction of this time and id. */
export interface PixPosition {
  readonly createdAt: Date;
  readonly id: string;
}

/** Changes with the tuple, so that a cursor of another version is refused. */
const version = 1;

/** The version, milliseconds since 1970 (thirteen digits reach the year 2286), and a UUID. */
const tuple = /^1\.(0|[1-9]\d{0,12})\.([0-9a-f-]{36})$/;

/** @returns the cursor: base64url of the version, the time and the id. */
export function formatPixCursor({ createdAt, id }: PixPosition): string {
  return Buffer.from(`${version}.${createdAt.getTime()}.${id}`).toString('base64url');
}

/**
 * @param text at most 128 characters.
 * @returns the position, or null when the text is not a cursor of this version.
 */
export function parsePixCursor(text: string): PixPosition | null {
  const decoded = Buffer.from(text, 'base64url').toString();
  const [, milliseconds = '', id = ''] = tuple.exec(decoded) ?? [];
  if (!isUuid(id)) return null;
  const position = { createdAt: new Date(Number(milliseconds)), id };
  // Buffer skips characters outside base64url; accept only the one spelling of a cursor.
  return formatPixCursor(position) === text ? position : null;
}
