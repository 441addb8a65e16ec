/**
 * Sorts the movements of a statement by what reconciliation does with each. The functions are
 * pure. A line that proves a movement becomes an item, as an event has it: both are judged and
 * applied in the same way.
 */
import { timeOfSpiId } from '../domain/reconciliation.ts';
import type { ClearLine, DoubtReason, Group, ReadStatement } from './statement-movements.ts';
import type { StatementLine } from '../provider/provider.ts';
import { noPayee, type WebhookItem } from '../provider/webhook-events.ts';

/** A line that proves a movement, and the movement as an item of an event has it. */
export interface ProvenLine {
  readonly line: ClearLine;
  readonly item: WebhookItem;
}

/** A payment that was sent, and whose money came back without a return id. */
export interface ReversedPayment {
  /** Empty: the statement has only what came back. */
  readonly debits: readonly ClearLine[];
  readonly reversals: readonly ClearLine[];
  /** Whether all are settled, and their sums are equal. */
  readonly isUndone: boolean;
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
  /** Sent and received payments. */
  readonly payments: readonly ProvenLine[];
  /** Refunds, after the payments that they refund. */
  readonly refunds: readonly ProvenLine[];
  readonly reversed: readonly ReversedPayment[];
  /** Movements that are not executed, or have failed: they prove nothing and may contradict. */
  readonly open: readonly ClearLine[];
  readonly unproven: readonly UnprovenLine[];
}

export interface StatementOwner {
  readonly document: string | null;
  readonly agency: string | null;
  readonly accountNumber: string | null;
}

export interface StatementOfOwner extends Pick<ReadStatement, 'groups'> {
  /** The account whose statement it is: the payee of what came in. */
  readonly owner: StatementOwner;
  /** The end-to-end ids of the owner's stored sends. */
  readonly sent: ReadonlySet<string>;
}

/** The fixed words of doubts. */
const doubts: Readonly<Record<DoubtReason, string>> = {
  no_own_id: 'no_end_to_end_id',
  unreadable: 'unreadable',
  several_lines: 'several_lines',
  before_statement: 'id_before_statement',
};

/**
 * Sorts the lines of a statement. Holds, fees and other lines that are no transfer are left out.
 */
export function sortLines({ groups, owner, sent }: StatementOfOwner): SortedLines {
  const sorted = {
    payments: [] as ProvenLine[],
    refunds: [] as ProvenLine[],
    reversed: [] as ReversedPayment[],
    open: [] as ClearLine[],
    unproven: [] as UnprovenLine[],
  };
  const subjects = new Map<string, number>();
  const doubt = (group: Group, reason: string): void => {
    // A payment that was not made leaves nothing missing.
    const made = group.lines.filter(({ status }) => status !== 'FAILED');
    for (const line of made) {
      const name = nameOf(line);
      const count = (subjects.get(name) ?? 0) + 1;
      if (group.id === null) subjects.set(name, count);
      const subject = group.id === null && count > 1 ? `${name} ${count}` : name;
      sorted.unproven.push({ line, reason, subject });
    }
  };
  for (const group of groups) {
    const { movement } = group;
    const returned = findReturnedMoney(group, sent);
    if (returned) sorted.reversed.push(returned);
    else if (!isOfKnownForm(group, sent)) doubt(group, doubts.no_own_id);
    else if (movement.kind === 'doubt') doubt(group, doubts[movement.reason]);
    else if (movement.kind === 'reversed') sorted.reversed.push(movement);
    else if (!isSettled(movement.line)) sorted.open.push(movement.line);
    else if (movement.kind === 'refund') sorted.refunds.push(toProven(movement.line, owner));
    else sorted.payments.push(toProven(movement.line, owner));
  }
  return sorted;
}

/**
 * Money that came in under the end-to-end id of an own send gives that one back, also when its
 * debit is in the statement of another day.
 */
function findReturnedMoney(
  { id, lines, movement }: Group,
  sent: ReadonlySet<string>,
): ReversedPayment | null {
  if (id === null || !sent.has(id)) return null;
  if (movement.kind === 'received') {
    return { debits: [], reversals: [movement.line], isUndone: false };
  }
  const areIn = lines.every(({ direction }) => direction === 'in');
  const isDoubt = movement.kind === 'doubt' && movement.reason !== 'unreadable';
  const reversals = lines.filter(isReversalLine);
  return areIn && isDoubt && reversals.length === lines.length
    ? { debits: [], reversals, isUndone: false }
    : null;
}

function isReversalLine(line: StatementLine): line is ClearLine {
  const { ids, amountCents, direction, status } = line;
  return ids.returnId === null && amountCents !== null && direction === 'in' && status !== null;
}

/** Whether an id has the form of an end-to-end id, or a look-up gave it to a stored send. */
function isOfKnownForm({ lines }: Group, sent: ReadonlySet<string>): boolean {
  return lines.every(({ ids: { endToEnd } }) => {
    return endToEnd === null || timeOfSpiId(endToEnd) !== null || sent.has(endToEnd);
  });
}

function isSettled({ status }: ClearLine): boolean {
  return status === 'COMPLETED';
}

function nameOf({ ids, direction, amountCents }: StatementLine): string {
  const described = ids.returnId ?? ids.endToEnd ?? ids.providerTxid;
  return described ?? `${direction ?? 'unread'} ${amountCents ?? 'unread'}`;
}

/** Identifies a line that has been read among those of its user. */
export function lineSubject({ ids }: StatementLine): string {
  return ids.returnId ?? ids.endToEnd ?? ids.transactionIdentification ?? '';
}

/**
 * The item of a settled line.
 * @param owner the payee of money that came in: the statement itself says who received it. Null: it
 *   names a charge, whose owner is not compared.
 */
export function toProven(line: ClearLine, owner: StatementOwner | null): ProvenLine {
  const { ids, amountCents, direction, status } = line;
  const { endToEnd, providerTxid, returnId } = ids;
  const at = timeOfSpiId(lineSubject(line));
  const isReceived = returnId === null && direction === 'in';
  const paymentKind = isReceived ? 'received' : 'payment';
  const item: WebhookItem = {
    index: 0,
    name: 'statement',
    shape: null,
    kind: returnId === null ? paymentKind : 'refund',
    status,
    ids: {
      endToEnd,
      clientRequestId: null,
      transactionIdentification: isReceived ? ids.transactionIdentification : null,
      providerTxid,
    },
    isNamedAlone: true,
    amountCents,
    payee: isReceived && owner ? { key: null, ...owner } : noPayee,
    ...(returnId !== null && { refund: { returnId, direction } }),
    ...(at && { at }),
    reason: null,
    ignoredBecause: null,
    word: null,
  };
  return { line, item };
}
