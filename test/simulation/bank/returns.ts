/**
 * The returns that customers order: the bank makes one at most for a return id and for a client
 * request id, never more than was received, and reports how each ends.
 */
import type { Chance } from '../chance.ts';
import type { StoredCustomer } from '../store.ts';
import type { Ids } from './ids.ts';
import { writeRefundNotice, writeReturnFailure, type RefundNotice } from './later-notices.ts';
import type { Ledger, OrderedReturn } from './ledger.ts';
import type { Policy } from './policy.ts';
import { json, result, type BankResponse } from './responses.ts';
import { duplicateErrors, getReturnWord, refusals } from './words.ts';

export interface ReturnsOptions {
  readonly policy: Policy;
  readonly ledger: Ledger;
  readonly chance: Chance;
  readonly ids: Ids;
  readonly nowMs: () => number;
  /** Called for each return that was executed. */
  readonly executed: (made: OrderedReturn) => void;
  readonly postRefund: (notice: RefundNotice, again: () => RefundNotice) => void;
  readonly postFailure: (notice: RefundNotice, again: () => RefundNotice) => void;
  readonly count: (name: string) => void;
}

interface ReturnRequest {
  readonly returnId: string;
  readonly clientRequestId: string;
  readonly endToEnd: string;
  readonly amountCents: number;
}

const likelihoods = { refused: 0.15, reversed: 0.2, settledAtOnce: 0.3 } as const;

/** What a receipt says of a return in a state. */
const meanings = { under_way: 'under_way', completed: 'completed', reversed: 'failed' } as const;

export class Returns {
  readonly #options: ReturnsOptions;
  /** The client request ids of the returns that were refused: a repeat is refused, too. */
  readonly #refused = new Set<string>();

  constructor(options: ReturnsOptions) {
    this.#options = options;
  }

  respond(customer: StoredCustomer, body: Readonly<Record<string, unknown>>): BankResponse {
    const { ledger, chance } = this.#options;
    const request = readRequest(body);
    const { returnId, clientRequestId, endToEnd, amountCents } = request;
    const executed = ledger.returns.find(
      (one) => one.returnId === returnId || one.clientRequestId === clientRequestId,
    );
    if (executed) return this.#repeat(executed, request);
    const received = ledger.receipts.find(
      (one) => one.endToEnd === endToEnd && one.customer === customer,
    );
    if (!received) return { ...json(404, { message: 'Not found' }), summary: 'no such receipt' };
    if (this.#refused.has(clientRequestId) || chance.happens(likelihoods.refused)) {
      this.#refused.add(clientRequestId);
      return this.#refuse(request);
    }
    if (amountCents > received.amountCents - ledger.sumReturnedCents(customer, endToEnd)) {
      return { ...json(422, { code: 'AM09', message: 'Valor maior' }), summary: 'AM09' };
    }
    return this.#execute(customer, request, received.amountCents);
  }

  /** Makes a return final, and reports it. */
  settle(made: OrderedReturn): void {
    if (made.state !== 'under_way') return;
    const { ledger, chance, policy, postRefund, postFailure } = this.#options;
    const { customer, endToEnd, returnId, amountCents, originalCents } = made;
    made.state = made.end;
    const refund = { customer, endToEnd, returnId, amountCents, originalCents };
    const out = { ...refund, direction: 'out' } as const;
    if (made.end === 'reversed') {
      const write = () => writeReturnFailure(chance, out, policy.vocabulary);
      return postFailure(write(), write);
    }
    const payer = ledger.payments.find((one) => one.endToEnd === endToEnd)?.customer;
    const sides = [
      out,
      ...(payer ? [{ ...refund, customer: payer, direction: 'in' } as const] : []),
    ];
    for (const side of sides) {
      ledger.refund(side);
      const write = () => writeRefundNotice(chance, side, policy.vocabulary);
      postRefund(write(), write);
    }
  }

  #execute(
    customer: StoredCustomer,
    { returnId, clientRequestId, endToEnd, amountCents }: ReturnRequest,
    originalCents: number,
  ): BankResponse {
    const { ledger, chance, ids, nowMs, executed, policy } = this.#options;
    const made = ledger.executeReturn({
      customer,
      returnId,
      clientRequestId,
      endToEnd,
      amountCents,
      originalCents,
      bankId: `return-${ids.next()}`,
      end: chance.happens(likelihoods.reversed) ? 'reversed' : 'completed',
      executedAtMs: nowMs(),
    });
    executed(made);
    const isFrank = policy.receiptStatus === 'frank';
    if (isFrank && chance.happens(likelihoods.settledAtOnce)) this.settle(made);
    return this.#receipt(made);
  }

  #repeat(executed: OrderedReturn, request: ReturnRequest): BankResponse {
    const { policy, chance, count } = this.#options;
    count('repeated returns');
    const isOwn = executed.returnId === request.returnId;
    switch (policy.repeat) {
      case 'replayed': {
        const replay = this.#receipt(executed);
        return isOwn ? replay : { ...replay, proves: 'nothing', summary: 'foreign receipt' };
      }
      case 'conflict':
        return { ...json(409, { message: 'Conflict' }), summary: 'conflict' };
      case 'rejected': {
        const body = { ...listIds(request), status: getReturnWord(policy.vocabulary, 'failed') };
        const [error] = chance.shuffled(duplicateErrors);
        return { ...json(200, { ...body, ...(error as object) }), summary: '200 duplicate' };
      }
      case 'refused':
        // The amount may be over what is left because this return was made.
        return { ...json(422, { code: 'AM09' }), summary: 'AM09 to a repeat' };
    }
  }

  #refuse(request: ReturnRequest): BankResponse {
    const { policy, chance } = this.#options;
    const { status, body } = chance.pick(refusals.account);
    if (policy.refusal === 'status')
      return { ...json(status, body, 'refused'), summary: 'refused' };
    const { vocabulary } = policy;
    const inner = body as { readonly code?: string; readonly error?: unknown };
    const error = inner.error ?? { code: inner.code };
    const failed = { ...listIds(request), status: getReturnWord(vocabulary, 'failed'), error };
    const proves = vocabulary.isKnown ? 'refused' : 'nothing';
    return { ...json(200, failed, proves), summary: '200 refused' };
  }

  #receipt(made: OrderedReturn): BankResponse {
    const { policy } = this.#options;
    const { vocabulary, receiptStatus } = policy;
    const meaning = receiptStatus === 'frank' ? meanings[made.state] : 'under_way';
    const status = receiptStatus === 'success' ? 'SUCCESS' : getReturnWord(vocabulary, meaning);
    const body = {
      id: made.bankId,
      ...listIds(made),
      ...(receiptStatus !== 'none' && { status }),
    };
    const proves = { under_way: 'accepted', completed: 'completed', failed: 'nothing' } as const;
    const proof = vocabulary.isKnown || meaning === 'failed' ? proves[meaning] : 'accepted';
    return { ...result(policy, body), proves: proof, summary: `receipt ${String(status)}` };
  }
}

function listIds({ returnId, clientRequestId, endToEnd }: ReturnRequest) {
  return { returnId, clientRequestId, endToEnd };
}

function readRequest(body: Readonly<Record<string, unknown>>): ReturnRequest {
  return {
    returnId: String(body['returnId']),
    clientRequestId: String(body['clientRequestId']),
    endToEnd: String(body['endToEnd']),
    amountCents: Math.round(Number(body['amount']) * 100),
  };
}
