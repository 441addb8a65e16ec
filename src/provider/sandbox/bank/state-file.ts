/**
 * The file of the simulated bank's state: one JSON line for each row that was saved, only ever
 * appended. The simulated bank is part of the service's process, and has to remember a payment when
 * that process is killed. The file contains no token and no password.
 */
import {
  appendFileSync,
  closeSync,
  fchmodSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import type { Row } from './rows.ts';

export interface StateFile {
  /**
   * Reads the rows in the order in which they were saved.
   *
   * @throws Error that names the first invalid line.
   */
  read(): Iterable<Row>;
  /**
   * Appends a row. When it returns, the row survives the end of the process (`kill -9`), though not
   * a power failure: it does not wait for the disk.
   *
   * @throws Error when the row could not be written. Later rows are refused too, because part of a
   *   line may be at the end of the file.
   */
  append(row: Row): void;
  close(): void;
}

const newline = 0x0a;

/**
 * Opens a state file, and creates a missing one. Only its owner can read it.
 *
 * A last line without its end was cut by a crash. The bank had not answered its call, so it is
 * removed.
 */
export function openStateFile(path: string): StateFile {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  // Appending keeps the rows of two processes whole, such as those of a server and its worker.
  const file = openSync(path, 'a', 0o600);
  fchmodSync(file, 0o600);
  let refusal: Error | null = null;
  return {
    *read() {
      const content = readFileSync(path);
      const length = content.lastIndexOf(newline) + 1;
      if (length < content.length) ftruncateSync(file, length);
      yield* readLines(path, content.subarray(0, length));
    },
    append(row) {
      if (refusal !== null) throw refusal;
      try {
        appendFileSync(file, `${JSON.stringify(row)}\n`);
      } catch (cause) {
        refusal = new Error('the state of the simulated bank could not be written', { cause });
        throw refusal;
      }
    },
    close() {
      refusal = new Error('the state of the simulated bank is closed');
      closeSync(file);
    },
  };
}

/** Reads line by line from the bytes: a long file does not fit into one string. */
function* readLines(path: string, content: Buffer): Generator<Row> {
  let number = 0;
  for (let from = 0; from < content.length;) {
    const end = content.indexOf(newline, from);
    number += 1;
    yield parseLine(content.toString('utf8', from, end), `${path}:${number}`);
    from = end + 1;
  }
}

function parseLine(line: string, place: string): Row {
  try {
    const parsed = JSON.parse(line) as Row;
    if (typeof parsed.row === 'string') return parsed;
  } catch {
    // The error below covers a line that is no JSON, too.
  }
  throw new Error(
    `${place} is no row of the simulated bank; remove the file to start with an empty bank`,
  );
}
