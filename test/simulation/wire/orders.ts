/** Reports the payments among the requests on the wire to the oracles. */
import type { Bank, BankRequest } from '../bank/bank.ts';
import type { Names } from '../names.ts';
import type { DisputeCalls } from '../oracle/dispute-calls.ts';
import type { Evidence } from '../oracle/evidence.ts';
import type { LookUps } from '../oracle/look-ups.ts';
import type { PaidCodes } from '../oracle/paid-codes.ts';
import type { Order } from '../oracle/requests.ts';
import type { Oracle } from '../oracle/oracle.ts';
import type { StoredCustomer } from '../store.ts';
import { findDisputed, isDispute, isPayment, isReturn } from './requests.ts';
import type { WireWatch } from './wire.ts';

export interface WatchOptions {
  readonly customers: readonly StoredCustomer[];
  readonly oracle: Oracle;
  readonly evidence: Evidence;
  readonly lookUps: LookUps;
  readonly codes: PaidCodes;
  readonly disputes: DisputeCalls;
}

/** Reports each payment that leaves to the oracles, and its response. */
export function watchPayments(options: WatchOptions): WireWatch {
  const { customers, oracle, evidence, lookUps, codes, disputes } = options;
  const { returns } = oracle;
  return {
    left(process, request) {
      if (isDispute(request)) {
        disputes.left(process, request);
        return;
      }
      if (isReturn(request)) {
        returns.attempted(process, request.body);
        return;
      }
      const order = orderIn(request, customers);
      if (!order) return;
      if (order.txid === null) lookUps.attempted(process, order);
      codes.attempted(process, order);
      oracle.attempted(process, order);
    },
    ended(process, request, response) {
      if (isDispute(request)) {
        disputes.ended(process, request, response);
        return;
      }
      if (isReturn(request)) {
        returns.ended(process, request.body, response?.proves ?? null);
        return;
      }
      const order = orderIn(request, customers);
      if (order) evidence.attemptEnded(process, order.endToEnd, response);
    },
    notSent(process, request) {
      if (isDispute(request)) return;
      if (isReturn(request)) {
        returns.ended(process, request.body, 'not_sent');
        return;
      }
      const order = orderIn(request, customers);
      if (order) evidence.attemptNotSent(process, order.endToEnd);
    },
  };
}

/** Describes a request for the trace. */
export function describeRequest(request: BankRequest, bank: Bank, names: Names): string {
  const name = bank.findCustomer(request)?.name ?? 'unknown';
  const { pathname } = request.url;
  if (isReturn(request)) {
    const { returnId } = request.body;
    return `return for ${name} ${names.of('D', String(returnId))}`;
  }
  if (isDispute(request)) {
    const endToEnd = names.of('E', findDisputed(request));
    return `${request.method} the dispute of ${endToEnd} for ${name}`;
  }
  if (!isPayment(request)) return `${pathname.replace('/internal/api/v1/', '')} for ${name}`;
  const { endToEnd, clientRequestId } = request.body;
  return `pay ${name}/${String(clientRequestId)} ${names.of('E', String(endToEnd))}`;
}

/** The payment in a request; null when it is no payment. */
function orderIn(request: BankRequest, customers: readonly StoredCustomer[]): Order | null {
  if (!isPayment(request)) return null;
  const { endToEnd, clientRequestId, key, debitParty, amount, initiationType } = request.body;
  const { account } = debitParty as { account: string };
  const customer = customers.find((one) => one.account.accountNumber === account);
  if (!customer) throw new Error('a payment from an unknown account');
  return {
    customer,
    endToEnd: String(endToEnd),
    clientRequestId: String(clientRequestId),
    pixKey: String(key),
    amountCents: Math.round(Number(amount) * 100),
    txid:
      initiationType === 'DYNAMIC_QRCODE'
        ? String(request.body['transactionIdentification'])
        : null,
  };
}
