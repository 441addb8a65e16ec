import { readPeriod, type RequestedDays } from './period.ts';
import type { Bank } from '../domain/bank.ts';
import { formatPixCursor, parsePixCursor, type PixPosition } from '../domain/pix-cursor.ts';
import { pixTypeNamed, transactionType } from '../domain/pix.ts';
import { nilUuid } from '../domain/text.ts';
import type { TokenOperation } from '../context/operation.ts';
import type { Locale } from '../errors.ts';
import { readPage, type PageItem } from '../ledger/history-repository.ts';
import { otherParty, shownIds } from './shown-parties.ts';
import { formatCode, correctionPart, detailPart, failurePart } from './transaction-reply.ts';

/** The contract's default. */
const defaultLimit = 20;

/**
 * A page of the caller's transactions as they are stored here, newest first. The next page begins
 * after the last transaction that this one has examined.
 */
export const listPixTransactions: TokenOperation<'listPixTransactions'> = {
  access: 'token',
  checksSession: true,
  checkRefused: (context, { query }) => void readBounds(query, context.clock.now()),
  async run(context, { input, token, request }) {
    const { type, status, limit, cursor, ...days } = input.query;
    const now = context.clock.now();
    const { from, until } = readBounds(days, now);
    const { items, next } = await readPage(context, token, {
      operation: type ? pixTypeNamed(type) : null,
      status: status ?? null,
      from,
      before: earlier(until, cursor === undefined ? null : parsePixCursor(cursor)),
      limit: limit ?? defaultLimit,
    });
    const view = { locale: request.locale, own: context.config.provider.bank, now };
    return {
      status: 200,
      body: {
        items: items.map((item) => toItem(item, view)),
        ...(next !== null && { next_cursor: formatPixCursor(next) }),
      },
    };
  },
};

/** Before and after every transaction. */
const everyTime = { from: new Date(0), until: new Date('9999-12-31T00:00:00Z') } as const;

/** The times of the requested days; without a day, all times. */
function readBounds(days: RequestedDays, now: Date): { readonly from: Date; readonly until: Date } {
  if (days.start_date === undefined && days.end_date === undefined) return everyTime;
  const { fromInclusive: from, toExclusive: until } = readPeriod(days, now);
  return { from, until };
}

/** The earlier of the end of the period, which is excluded, and the position of the cursor. */
function earlier(until: Date, position: PixPosition | null): PixPosition {
  return position !== null && position.createdAt < until
    ? position
    : { createdAt: until, id: nilUuid };
}

interface ItemView {
  readonly locale: Locale;
  readonly own: Bank;
  readonly now: Date;
}

function toItem(item: PageItem, { locale, own, now }: ItemView) {
  return {
    transaction_id: item.id,
    type: transactionType(item.operation),
    // Exact: a double represents every decimal of fifteen digits.
    amount: Number(item.amount),
    status: item.status,
    ...detailPart(item, now),
    created_at: item.createdAt.toISOString(),
    ...otherParty(item, own),
    ...(item.description !== null && { description: item.description }),
    ...shownIds(item),
    ...formatCode(item),
    ...correctionPart(item),
    ...failurePart(item, locale),
  };
}
