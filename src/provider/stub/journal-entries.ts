/**
 * The lines of the journal of events that earlier versions kept in place of rows. They are still
 * read from the beginning of a file: each entry becomes the row that it results in.
 */
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

export type JournalEntry =
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

/** The rows that the lines before an entry made. */
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
