/**
 * The file of the simulated bank's state: one JSON line for each row that was saved, only ever
 * appended. The simulated bank is part of the service's process, and has to remember a payment when
 * that process is killed. The file contains no token and no password. It may begin
 * with entries of the journal of earlier versions, each of which is converted to a row.
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
import type {
  Charge,
  LookUp,
  Payment,
  Person,
  PersonStep,
  PixKey,
  Receipt,
  Row,
  Settlement,
  Transfer,
} from './rows.ts';

export interface StateFile {
  /**
   * Reads the rows in the order in which they were saved.
   *
   * @throws Error that names the first invalid line.
   */
  read(): Iterable<Row | JournalEntry>;
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

const NEWLINE = 0x0a;

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
      const length = content.lastIndexOf(NEWLINE) + 1;
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
function* readLines(path: string, content: Buffer): Generator<Row | JournalEntry> {
  let number = 0;
  for (let from = 0; from < content.length;) {
    const end = content.indexOf(NEWLINE, from);
    number += 1;
    yield parseLine(content.toString('utf8', from, end), `${path}:${number}`);
    from = end + 1;
  }
}

function parseLine(line: string, place: string): Row | JournalEntry {
  try {
    const parsed = JSON.parse(line) as Row | JournalEntry;
    if (typeof ('entry' in parsed ? parsed.entry : parsed.row) === 'string') return parsed;
  } catch {
    // The error below covers a line that is no JSON, too.
  }
  throw new Error(
    `${place} is no row of the simulated bank; remove the file to start with an empty bank`,
  );
}

type JournalEntry =
  | (Omit<LookUp, 'row'> & { readonly entry: 'look_up' })
  | (Omit<Payment, 'row' | 'payerId' | 'key' | 'settlement' | 'webhooksLeft'> & {
      readonly entry: 'payment';
    })
  | (Settlement & WithNotices & { readonly entry: 'settlement'; readonly endToEnd: string })
  | (Omit<Charge, 'row'> & { readonly entry: 'charge' })
  | (Omit<Receipt, 'row' | 'key' | 'receiver' | 'webhooksLeft'> &
      WithNotices & { readonly entry: 'received' })
  | { readonly entry: 'notice_closed'; readonly endToEnd: string }
  | (Omit<PixKey, 'row' | 'isDeleted'> & { readonly entry: 'key_created' })
  | { readonly entry: 'key_deleted'; readonly key: string }
  | (Omit<Person, 'row' | 'steps'> & { readonly entry: 'person' })
  | { readonly entry: 'person_step'; readonly personId: string; readonly step: PersonStep };

interface WithNotices {
  /** JSON texts of webhooks. */
  readonly notices: readonly string[];
}

/** The rows of the lines before an entry. */
interface RowsBefore {
  readonly lookUps: ReadonlyMap<string, LookUp>;
  readonly transfers: ReadonlyMap<string, Transfer>;
  readonly pixKeys: ReadonlyMap<string, PixKey>;
  readonly persons: ReadonlyMap<string, Person>;
  payment(endToEnd: string): Payment | null;
}

/**
 * The row that an entry results in.
 *
 * @throws Error when the entry changes a row that is missing.
 */
export function entryRow(before: RowsBefore, line: JournalEntry): Row {
  switch (line.entry) {
    case 'look_up': {
      const { endToEnd, email, payerId, key } = line;
      return { row: 'look_up', endToEnd, email, payerId, key };
    }
    case 'payment': {
      const { entry: _, ...payment } = line;
      const { payerId, key } = found(before.lookUps.get(line.endToEnd), line);
      return { row: 'payment', ...payment, payerId, key, settlement: null, webhooksLeft: 0 };
    }
    case 'settlement': {
      const { status, atMs, notices } = line;
      const payment = found(before.payment(line.endToEnd), line);
      return { ...payment, settlement: { status, atMs }, webhooksLeft: notices.length };
    }
    case 'charge': {
      const { entry: _, ...charge } = line;
      return { row: 'charge', ...charge };
    }
    case 'received': {
      const { entry: _, notices, ...receipt } = line;
      const notice = JSON.parse(notices[0] ?? '{}') as {
        key: string;
        account: Receipt['receiver'];
      };
      const { key, account: receiver } = notice;
      return { row: 'receipt', ...receipt, key, receiver, webhooksLeft: notices.length };
    }
    case 'notice_closed': {
      const transfer: Transfer = found(before.transfers.get(line.endToEnd), line);
      return { ...transfer, webhooksLeft: transfer.webhooksLeft - 1 };
    }
    case 'key_created': {
      const { entry: _, ...pixKey } = line;
      return { row: 'pix_key', ...pixKey, isDeleted: false };
    }
    case 'key_deleted':
      return { ...found(before.pixKeys.get(line.key), line), isDeleted: true };
    case 'person': {
      const { entry: _, ...person } = line;
      return { row: 'person', ...person, steps: [] };
    }
    case 'person_step': {
      const person = found(before.persons.get(line.personId), line);
      return { ...person, steps: [...person.steps, line.step] };
    }
  }
}

function found<T>(row: T | null | undefined, { entry }: JournalEntry): T {
  if (row === null || row === undefined) throw new Error(`an entry ${entry} changes a missing row`);
  return row;
}
