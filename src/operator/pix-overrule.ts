/**
 * `pix resolve --as failed --overrule`: two operators call a COMPLETED transaction FAILED that only
 * an operator or the statement has completed. The first run records a request; a run by another
 * login of the database, within a day, carries it out.
 */
import type { LocalContext } from '../context/context.ts';
import { dayMs } from '../clock.ts';
import { overruledNote } from '../domain/pix.ts';
import {
  isCompletedByBank,
  lockEventQueue,
  overruleTransaction,
} from '../ledger/overrule-repository.ts';
import { hasReachedPayee } from '../ledger/payment-repository.ts';
import { findConfirmation, findUnsettledConfirmation } from './confirming-event.ts';
import { requireDecision, type OperatorDecision } from './decision.ts';
import { OpError, type Op } from './op.ts';
import {
  findRecentActions,
  recordAction,
  type RecentAction,
} from './operator-action-repository.ts';
import { findNamedPix } from './pix-reference.ts';
import type { FoundPix } from './pix-repository.ts';
import { reachedPayee, riskOfFailing, unconfirmedFailing } from './pix-resolve.ts';
import {
  lookAtStatement,
  mayBeMade,
  recordOfStatement,
  refusalOfStatement,
  type StatementLook,
} from './pix-statement-look.ts';
import { viewOfPix, type PixView } from './pix-view.ts';

/** The command in the record of actions, by which the second run finds the request. */
const overruleCommand = 'pix resolve --overrule';

/** The outcome of a first run in the record of actions. */
const requestedOutcome = 'REQUESTED';

/** How long a request holds. */
const requestHoldsMs = dayMs;

export interface PixOverruleInput extends OperatorDecision {
  readonly id: string;
  /** {@link riskOfFailing}, word for word. */
  readonly confirm?: string;
  /** Although the statement has a debit of the amount that is of no stored payment. */
  readonly despiteStatement?: boolean;
  /** Only checks whether this may be done, before the operator confirms. */
  readonly onlyCheck?: boolean;
}

export interface PixOverruled {
  readonly transaction: PixView;
  readonly statement: StatementLook;
  /** The request of another operator that this run carries out; null: this run is the request. */
  readonly requestedBy: string | null;
}

/**
 * Overrules a COMPLETED transaction, or requests it.
 * @throws OpError when there is no such transaction, the bank has completed it, money of it came
 *   back, the statement was not read or shows it, it was overruled before, the same login of the
 *   database has requested it, or the risk is not confirmed.
 */
export const overrulePix: Op<PixOverruleInput, PixOverruled> = {
  needsDialects: true,
  async run(context, input, { operator }) {
    const row = await findNamedPix(context, input.id);
    requireDecision(input, operator);
    if (input.confirm !== riskOfFailing) throw new OpError('INVALID', unconfirmedFailing);
    await requireOverrulable(context, row);
    const statement = await readStatement(context, row, input);
    const request = await findRequest(context, row.id);
    const requestedBy = request?.operator ?? null;
    if (input.onlyCheck) return { transaction: viewOfPix(row), statement, requestedBy };
    const decision = { row, operator, reason: input.reason.trim(), statement };
    if (request) await carryOut(context, decision);
    else await recordRequest(context, decision);
    return { transaction: viewOfPix(await findNamedPix(context, row.id)), statement, requestedBy };
  },
};

/** @throws OpError when a transaction may not be overruled. */
async function requireOverrulable(context: LocalContext, row: FoundPix): Promise<void> {
  const reason = refusalOf(row);
  if (reason !== null) throw new OpError('REFUSED', reason);
  await requireNoConfirmation(context, row);
}

/** @throws OpError when the bank has said that a transaction was paid. */
async function requireNoConfirmation(context: LocalContext, row: FoundPix): Promise<void> {
  const confirmation =
    (await findConfirmation(context, row)) ?? (await findUnsettledConfirmation(context, row));
  if (confirmation !== null) throw new OpError('REFUSED', confirmation);
  if (await isCompletedByBank(context, row.id)) {
    throw new OpError(
      'REFUSED',
      'the bank has completed it: only what an operator or a statement alone has completed is overruled',
    );
  }
  if (await hasReachedPayee(context, row.id)) throw new OpError('REFUSED', reachedPayee);
}

function refusalOf(row: FoundPix): string | null {
  const { idempotencyKey, operation, status, overruledAt } = row;
  if (idempotencyKey === null)
    return `it is a reported ${operation}: only sends, charges and returns are overruled`;
  if (overruledAt !== null) return 'it was overruled before';
  if (status !== 'COMPLETED') return `it is ${status}: only what is COMPLETED is overruled`;
  const isRefunded = row.refundedAmount !== null || row.refundingAmount !== null;
  return isRefunded ? 'money of it came back or is given back, so that it was paid' : null;
}

/**
 * @throws OpError when the statement was not read whole, or may show the payment; a debit that only
 *   has its amount may be another one, which both operators say.
 */
async function readStatement(
  context: LocalContext,
  row: FoundPix,
  { despiteStatement = false }: PixOverruleInput,
): Promise<StatementLook> {
  const look = await lookAtStatement(context, row);
  if (look === null) throw new OpError('REFUSED', 'nothing of it can be in a statement');
  if (look.says === 'similar') {
    const refusal = refusalOfStatement(look);
    if (refusal !== null && !despiteStatement) throw new OpError('REFUSED', refusal);
    return look;
  }
  if (look.says === null || mayBeMade.has(look.says)) throw new OpError('REFUSED', look.sentence);
  return look;
}

/** @throws OpError when the caller's login of the database has requested it. */
async function findRequest(context: LocalContext, id: string): Promise<RecentAction | null> {
  const requests = await findRecentActions(context, {
    command: overruleCommand,
    target: `pix:${id}`,
    withinMs: requestHoldsMs,
  });
  const ofOther = requests.find(({ isOwn }) => !isOwn);
  const [own] = requests;
  if (ofOther || !own) return ofOther ?? null;
  throw new OpError(
    'REFUSED',
    `${own.operator} has requested it at ${own.at.toISOString()} with this login of the ` +
      'database: another person carries it out, with another login',
  );
}

interface OverruleDecision {
  readonly row: FoundPix;
  readonly operator: string;
  readonly reason: string;
  readonly statement: StatementLook;
}

function recordRequest(
  context: LocalContext,
  { row, operator, reason, statement }: OverruleDecision,
): Promise<void> {
  return recordAction(context, { operator, command: overruleCommand, reason }, () =>
    Promise.resolve({
      result: undefined,
      targets: [`pix:${row.id}`],
      outcome: `${requestedOutcome}; ${recordOfStatement(statement)}`,
    }),
  );
}

/** @throws OpError when the transaction has changed since it was checked. */
async function carryOut(
  context: LocalContext,
  { row, operator, reason, statement }: OverruleDecision,
): Promise<void> {
  const { id, settledAt } = row;
  const note = `${overruledNote} ${operator.trim()}: ${reason}`;
  const isDone = await recordAction(
    context,
    { operator, command: overruleCommand, reason },
    async (transaction) => {
      const closesLine = statement.says === 'reversed';
      const end = { id, settledAt, note, closesLine };
      await lockEventQueue(transaction);
      const result = await overruleTransaction(transaction, end);
      // An event may have confirmed it, or its other side, since it was checked.
      if (result) await requireNoConfirmation(transaction, row);
      return {
        result,
        targets: result ? [`pix:${id}`] : [],
        outcome: `FAILED; ${recordOfStatement(statement)}`,
      };
    },
  );
  if (!isDone) throw new OpError('REFUSED', 'it has changed meanwhile: check it again');
  context.metrics.pixAnomalies.inc();
  context.log.error({ transactionId: id }, 'operators have called a completed transaction failed');
}
