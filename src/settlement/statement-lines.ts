/**
 * Sorts the lines of a statement that was read whole by what each may prove. The functions are
 * pure. Money that came in and a refund become items, as an event has them: both are decided and
 * applied in the same way.
 */
import { isReturnId } from '../domain/pix.ts';
import { timeOfSpiId } from '../domain/reconciliation.ts';
import { judgeSend } from '../pix/statement-evidence.ts';
import type { StatementLine } from '../provider/provider.ts';
import { noPayee, type WebhookItem } from '../provider/webhook-events.ts';

/** A line whose ids, amount, direction and status are known. */
export interface ReadLine extends StatementLine {
  readonly ids: StatementLine['ids'] & { readonly endToEnd: string };
  readonly amountCents: number;
  readonly direction: 'in' | 'out';
  readonly status: NonNullable<StatementLine['status']>;
}

/** A line that proves a movement, and the movement as an item; null: a payment that was sent. */
export interface ProvenLine {
  readonly line: ReadLine;
  readonly item: WebhookItem | null;
}

/** A line that proves nothing. */
export interface UnprovenLine {
  readonly line: StatementLine;
  /** A fixed word. */
  readonly reason: string;
  /** Identifies the line among those of its user. */
  readonly subject: string;
}

export interface SortedLines {
  /** Sent and received payments, each named by exactly one line. */
  readonly payments: readonly ProvenLine[];
  /** Refunds, after the payments that they refund. */
  readonly refunds: readonly ProvenLine[];
  /** Payments that are not executed, or have failed: they prove nothing and may contradict. */
  readonly open: readonly ReadLine[];
  /** Money that came back on the lines of a sent payment, without a return id. */
  readonly givenBack: readonly ReadLine[];
  readonly unproven: readonly UnprovenLine[];
}

export interface StatementOwner {
  readonly document: string | null;
  readonly agency: string | null;
  readonly accountNumber: string | null;
}

export interface WholeStatement {
  readonly lines: readonly StatementLine[];
  /** The account whose statement it is: the payee of what came in. */
  readonly owner: StatementOwner;
  /** The end-to-end ids of the owner's stored sends. */
  readonly sent: ReadonlySet<string>;
  /** When the first day of the statement begins. */
  readonly from: Date;
}

/**
 * Sorts the lines of a statement. Holds, fees and other movements that are no transfer are left
 * out.
 */
export function sortLines({ lines, owner, sent, from }: WholeStatement): SortedLines {
  const [read, unproven] = separate(lines, sent);
  const payments = read.filter(({ ids }) => ids.returnId === null);
  const refunds = read.filter((line) => line.ids.returnId !== null && isSettled(line));
  const byId = Map.groupBy(payments, ({ ids }) => ids.endToEnd);
  const sorted = { payments: [] as ProvenLine[], open: [] as ReadLine[] };
  const givenBack: ReadLine[] = [];
  for (const named of byId.values()) {
    const out = named.filter(({ direction }) => direction === 'out');
    // Money that comes in under the id of an outgoing payment is that payment's, given back.
    const main = out.length > 0 ? out : named;
    if (out.length > 0) {
      givenBack.push(...named.filter((one) => one.direction === 'in' && isSettled(one)));
    }
    const [line, ...others] = main;
    if (!line) continue;
    if (others.length > 0) unproven.push(...main.map((one) => doubt(one, 'several_lines')));
    else if (!isSettled(line)) sorted.open.push(line);
    else if (isTooEarly(line, from)) unproven.push(doubt(line, 'id_before_statement'));
    else if (line.direction === 'in') sorted.payments.push({ line, item: receipt(line, owner) });
    else if (isProvenSend(line, named)) sorted.payments.push({ line, item: null });
    else unproven.push(doubt(line, 'unclear'));
  }
  const once = Map.groupBy(refunds, ({ ids }) => `${ids.returnId}`);
  for (const same of once.values()) {
    if (same.length > 1) unproven.push(...same.map((one) => doubt(one, 'several_lines')));
  }
  const single = [...once.values()].flatMap((same) => (same.length === 1 ? same : []));
  const proven = single.map((line) => ({ line, item: refundItem(line) }));
  return { ...sorted, refunds: proven, givenBack, unproven };
}

/** @returns the lines that are read, and those that are not. */
function separate(
  lines: readonly StatementLine[],
  sent: ReadonlySet<string>,
): [ReadLine[], UnprovenLine[]] {
  const read: ReadLine[] = [];
  const unproven: UnprovenLine[] = [];
  const same = new Map<string, number>();
  for (const line of lines) {
    if (line.direction === 'other') continue;
    if (isRead(line, sent)) {
      read.push(line);
      continue;
    }
    // A payment that was not made leaves nothing missing.
    if (line.status === 'FAILED') continue;
    const { ids, direction, amountCents } = line;
    const described = ids.returnId ?? ids.endToEnd ?? ids.providerTxid;
    const name = described ?? `${direction ?? 'unread'} ${amountCents ?? 'unread'}`;
    const count = (same.get(name) ?? 0) + 1;
    same.set(name, count);
    const isNamed = isKnownId(ids.endToEnd, sent);
    unproven.push({
      line,
      reason: isNamed ? 'unreadable' : 'no_end_to_end_id',
      subject: count === 1 ? name : `${name} ${count}`,
    });
  }
  return [read, unproven];
}

function isRead(line: StatementLine, sent: ReadonlySet<string>): line is ReadLine {
  const { ids, amountCents, direction, status } = line;
  return (
    isKnownId(ids.endToEnd, sent) &&
    (ids.returnId === null || isReturnId(ids.returnId)) &&
    amountCents !== null &&
    amountCents > 0 &&
    (direction === 'in' || direction === 'out') &&
    status !== null
  );
}

/** Whether an id has the form of an end-to-end id, or a look-up gave it to a stored send. */
function isKnownId(endToEnd: string | null, sent: ReadonlySet<string>): boolean {
  return timeOfSpiId(endToEnd) !== null || (endToEnd !== null && sent.has(endToEnd));
}

function isSettled({ status }: ReadLine): boolean {
  return status === 'COMPLETED';
}

/**
 * Whether money came in under an id that is older than the statement: it may be the money of a
 * payment that went out before, and whose line is not among these.
 */
function isTooEarly({ ids, direction }: ReadLine, from: Date): boolean {
  const at = timeOfSpiId(ids.endToEnd);
  return direction === 'in' && (at === null || at < from);
}

function isProvenSend(line: ReadLine, named: readonly ReadLine[]): boolean {
  const { ids, amountCents } = line;
  return judgeSend(named, { endToEnd: ids.endToEnd, amountCents }).evidence === 'completed';
}

function doubt(line: ReadLine, reason: string): UnprovenLine {
  return { line, reason, subject: lineSubject(line) };
}

/** Identifies a line that has been read among those of its user. */
export function lineSubject({ ids }: ReadLine): string {
  return ids.returnId ?? ids.endToEnd;
}

/** The statement itself says who received the money. */
function receipt(line: ReadLine, owner: StatementOwner): WebhookItem {
  const item = toItem(line);
  const { transactionIdentification } = line.ids;
  const ids = { ...item.ids, transactionIdentification };
  return { ...item, ids, kind: 'received', payee: { key: null, ...owner } };
}

function refundItem(line: ReadLine): WebhookItem {
  const { returnId } = line.ids;
  const refund = { returnId: returnId ?? '', direction: line.direction };
  return { ...toItem(line), kind: 'refund', payee: noPayee, refund };
}

function toItem(line: ReadLine): Omit<WebhookItem, 'kind' | 'payee'> {
  const { ids, amountCents, status } = line;
  const at = timeOfSpiId(lineSubject(line));
  return {
    index: 0,
    name: 'statement',
    shape: null,
    status,
    ids: {
      endToEnd: ids.endToEnd,
      clientRequestId: null,
      transactionIdentification: null,
      providerTxid: ids.providerTxid,
    },
    amountCents,
    ...(at && { at }),
    reason: null,
    ignoredBecause: null,
    word: null,
  };
}
