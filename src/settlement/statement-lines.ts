/**
 * Sorts the movements of a statement by what reconciliation does with each. The functions are
 * pure. Money that came in and a refund become items, as an event has them: both are decided and
 * applied in the same way.
 */
import { timeOfSpiId } from '../domain/reconciliation.ts';
import {
  readGroups,
  type ClearLine,
  type DoubtReason,
  type Group,
  type WholeStatement,
} from './statement-movements.ts';
import type { StatementLine } from '../provider/provider.ts';
import { noPayee, type WebhookItem } from '../provider/webhook-events.ts';

/** A line that proves a movement, and the movement as an item; null: a payment that was sent. */
export interface ProvenLine {
  readonly line: ClearLine;
  readonly item: WebhookItem | null;
}

/** A payment that was sent, and whose money came back without a return id. */
export interface ReversedPayment {
  /** None: only what came back is in the statement. */
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
  /** Payments that are not executed, or have failed: they prove nothing and may contradict. */
  readonly open: readonly ClearLine[];
  readonly unproven: readonly UnprovenLine[];
}

export interface StatementOwner {
  readonly document: string | null;
  readonly agency: string | null;
  readonly accountNumber: string | null;
}

export interface StatementOfOwner extends Pick<WholeStatement, 'lines' | 'from'> {
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
export function sortLines({ lines, owner, sent, from }: StatementOfOwner): SortedLines {
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
  for (const group of readGroups({ lines, from })) {
    const { movement } = group;
    const returned = findReturnedMoney(group, sent);
    if (returned) sorted.reversed.push(returned);
    else if (!isOfKnownForm(group, sent)) doubt(group, doubts.no_own_id);
    else if (movement.kind === 'doubt') doubt(group, doubts[movement.reason]);
    else if (movement.kind === 'reversed') sorted.reversed.push(movement);
    else if (movement.kind === 'refund') {
      const { line } = movement;
      if (isSettled(line)) sorted.refunds.push({ line, item: refundItem(line) });
    } else if (!isSettled(movement.line)) sorted.open.push(movement.line);
    else {
      const { line } = movement;
      sorted.payments.push({
        line,
        item: movement.kind === 'payment' ? null : receipt(line, owner),
      });
    }
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

/** The statement itself says who received the money. */
function receipt(line: ClearLine, owner: StatementOwner): WebhookItem {
  const item = toItem(line);
  const { transactionIdentification } = line.ids;
  const ids = { ...item.ids, transactionIdentification };
  return { ...item, ids, kind: 'received', payee: { key: null, ...owner } };
}

function refundItem(line: ClearLine): WebhookItem {
  const { returnId } = line.ids;
  const refund = { returnId: returnId ?? '', direction: line.direction };
  return { ...toItem(line), kind: 'refund', payee: noPayee, refund };
}

function toItem(line: ClearLine): Omit<WebhookItem, 'kind' | 'payee'> {
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
