/** The payment or the return of a form, as it stands. */
import type { Order } from './app-state.ts';
import { failure, type Notice } from './notice.ts';
import { isOver, orderOutcome, orderTexts, type Answer, type OrderKind } from './outcomes.ts';
import { factLines, statusColour, wrapLines, type Facts, type Line } from './text.ts';

/** How a person makes another order. */
export const anotherKey = 'For another one, ctrl+n makes a new key.';

/** While the service does not answer. */
export const lostText = 'The service does not answer; the console retries.';

export interface OrderView {
  /** Its transaction; null before a response has named it. */
  readonly transactionId: string | null;
  /** Whether nothing more happens under its key. */
  readonly isOver: boolean;
  readonly notice: Notice | null;
  /** Its status and what to do next; undefined before the first response. */
  readonly outcome: ((columns: number) => Line[]) | undefined;
}

/** What a form shows of its order: nothing while a request is under way. */
export function viewOrder(
  kind: OrderKind,
  {
    order,
    call,
  }: { readonly order: Order | undefined; readonly call: { readonly isBusy: boolean } },
): OrderView {
  const { answer, isLost } = order ?? {};
  const isShown = answer !== undefined && !call.isBusy;
  return {
    transactionId: answer?.made.transaction_id ?? null,
    isOver: answer !== undefined && isOver(answer),
    notice: failure(isLost === true && lostText),
    outcome: isShown ? (columns) => outcomeLines(kind, answer, columns) : undefined,
  };
}

function outcomeLines(kind: OrderKind, answer: Answer, columns: number): Line[] {
  const { colour, text } = orderOutcome(kind, answer, anotherKey);
  const { made, isReplay, next } = answer;
  // A refusal has no status.
  const { status = next === 'new-key' ? 'FAILED' : undefined } = made;
  return [
    { text: '' },
    ...(status === undefined ? [] : [{ text: status, colour: statusColour(status) }]),
    ...wrapLines(text, columns, colour),
    ...wrapLines(isReplay ? orderTexts[kind].replayed : '', columns),
    ...factLines(idFacts(made), columns),
  ];
}

function idFacts(made: Answer['made']): Facts {
  const { transaction_id: id, end_to_end: endToEnd, return_id: returnId } = made;
  return [
    ...(id === undefined ? [] : [['Transaction', id] as const]),
    ...(endToEnd === undefined ? [] : [['End-to-end id', endToEnd] as const]),
    ...(returnId === undefined ? [] : [['Return id', returnId] as const]),
  ];
}
