/** `pix list --open-with-the-bank`: the orders whose end only the bank can tell. */
import { nilUuid } from '../domain/text.ts';
import { executableMs, type OrderType, type PixPhase } from '../domain/pix.ts';
import type { Op } from './op.ts';
import { recordReading } from './operator-action-repository.ts';
import { findOrdersForBank, type OrderForBank } from './pix-resolve-list-repository.ts';
import { requestIdOf } from '../ledger/return-ids.ts';

export interface PixForBankInput {
  /** Whether the accounts are read, for the file for the bank; it is recorded. */
  readonly withAccounts?: boolean;
  /** The `next` of an earlier call. */
  readonly after?: string;
  /** The largest number of orders of this call: 1 to 1000. */
  readonly limit: number;
}

/** An order that waits for the bank; times are ISO 8601 texts, the amount is a decimal of reais. */
export interface BankOrderView {
  readonly id: string;
  readonly userId: number;
  readonly operation: OrderType;
  readonly phase: PixPhase;
  readonly amount: string;
  /** Of a return: its return id. */
  readonly endToEnd: string;
  /** By which the bank knows it. */
  readonly requestId: string | null;
  readonly createdAt: string;
  readonly attemptedAt: string;
  /** The account of its user; null: not asked for. */
  readonly account: BankAccountView | null;
}

interface BankAccountView {
  readonly agency: string | null;
  readonly number: string | null;
}

export interface PixForBank {
  readonly orders: readonly BankOrderView[];
  /** The `after` of the next call; null when there are no more orders. */
  readonly next: string | null;
}

/** Lists the sends and returns whose last attempt was made 36 hours ago, the oldest first. */
export const listForBank: Op<PixForBankInput, PixForBank> = {
  async run(context, { withAccounts = false, after = nilUuid, limit }, { operator, reason }) {
    const attemptedUntil = new Date(context.clock.now().getTime() - executableMs);
    const size = Math.min(Math.max(1, limit), 1_000);
    const found = await findOrdersForBank(context, { attemptedUntil, after, limit: size });
    if (withAccounts) {
      const action = { operator, reason, command: 'pix list --open-with-the-bank --file' };
      const targets = found.map(({ id }) => `pix:${id}`);
      await recordReading(context, action, targets);
    }
    const orders = found.map((order) => toView(order, withAccounts));
    return { orders, next: found.length < size ? null : (found.at(-1)?.id ?? null) };
  },
};

function toView(order: OrderForBank, withAccounts: boolean): BankOrderView {
  const { id, userId, operation, phase, amount, endToEnd, agency, accountNumber } = order;
  return {
    id,
    userId,
    operation,
    phase,
    amount,
    endToEnd,
    requestId: requestIdOf(order),
    createdAt: order.createdAt.toISOString(),
    attemptedAt: order.attemptedAt.toISOString(),
    account: withAccounts ? { agency, number: accountNumber } : null,
  };
}
