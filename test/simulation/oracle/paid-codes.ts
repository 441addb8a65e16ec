/**
 * The dynamic codes that customers pay. A payment of a code leaves only as the bank has last said
 * it to this customer: charge, payee and amount. One customer pays a charge once, unless the bank
 * has not executed, or has returned, the earlier payment. A refusal has a reason.
 */
import { openCode } from '../../../src/pix/confirmed-code.ts';
import type { Sealer } from '../../../src/security/sealing.ts';
import { isAccepted, type Code, type CodeAnswer, type Codes } from '../bank/codes.ts';
import type { Payment } from '../bank/ledger.ts';
import type { Names } from '../names.ts';
import type { Owner, Scheduler } from '../scheduler.ts';
import type { StoredCustomer } from '../store.ts';
import type { LostCommits } from './lost-commits.ts';
import { isFreed, makeName, type AppRequest, type Order, type SendTruth } from './requests.ts';

/** A look-up of a code as the app has received it. */
export interface ReceivedCode {
  readonly customer: StoredCustomer;
  readonly code: Code;
  /** The field `lookup_id`. */
  readonly id: string;
  /** The field `expires_at`, by the clock of the process that has answered. */
  readonly expiresAtMs: number;
  readonly state: string;
  /** In centavos; null: the payer chooses it. */
  readonly amountCents: number | null;
}

/** A payment that the app requests with a look-up of a code. */
interface CodeSend {
  readonly lookUp: ReceivedCode;
  readonly code: Code;
  readonly requestedAtMs: number;
}

export interface PaidCodesOptions {
  readonly sealer: Sealer;
  readonly names: Names;
  readonly scheduler: Scheduler;
  readonly lost: LostCommits;
  readonly sends: SendTruth;
  readonly violated: (text: string) => void;
  /** The largest clock skew of a process, in milliseconds. */
  readonly clockSkewMs: number;
}

export class PaidCodes {
  readonly #options: PaidCodesOptions;
  readonly #received: ReceivedCode[] = [];
  /** The payments with a look-up of a code, by `customer/key`. */
  readonly #sends = new Map<string, CodeSend>();
  readonly #executed: Payment[] = [];
  #codes: Codes | null = null;

  constructor(options: PaidCodesOptions) {
    this.#options = options;
  }

  /** The bank, which is opened after the oracles. */
  watch(codes: Codes): void {
    this.#codes = codes;
  }

  get received(): readonly ReceivedCode[] {
    return this.#received;
  }

  /** The app has received the look-up of a code. */
  receive(lookUp: ReceivedCode): void {
    const { violated } = this.#options;
    const answer = this.#findAnswer(lookUp);
    if ((lookUp.state === 'PAYABLE') !== (this.#endToEnd(lookUp) !== '')) {
      violated(`${lookUp.code.name} is ${lookUp.state}, which the bank has not said`);
    }
    if (answer && answer.amountCents !== lookUp.amountCents) {
      violated(`${lookUp.code.name} has another amount than the bank has said`);
    }
    this.#received.push(lookUp);
  }

  requested(
    { customer, key }: Pick<AppRequest, 'customer' | 'key'>,
    { lookUp, code }: Pick<CodeSend, 'lookUp' | 'code'>,
  ): void {
    const name = makeName(customer, key);
    if (this.#sends.has(name)) return;
    const requestedAtMs = this.#options.scheduler.nowMs;
    this.#sends.set(name, { lookUp, code, requestedAtMs });
  }

  /** Whether a refusal of a payment of a code is right. */
  isRefusable({ customer, key }: AppRequest, field: 'copy_paste' | 'lookup_id'): boolean {
    const name = makeName(customer, key);
    const send = this.#sends.get(name);
    if (!send) return false;
    const { lookUp, code } = send;
    const others = [...this.#sends].filter(([other]) => other !== name);
    const hasChanged = this.#mayHaveExpired(lookUp) && this.#codes?.hasChanged(code) === true;
    if (field === 'lookup_id') {
      const isUsed = others.some(([, one]) => one.lookUp.id === lookUp.id);
      return isUsed || lookUp.customer !== customer || lookUp.code !== code || hasChanged;
    }
    const isPaying = others.some(
      ([, one]) => one.code === code && one.lookUp.customer === customer,
    );
    const isOver = lookUp.state !== 'PAYABLE' || hasChanged || this.#isPaid(code);
    return isPaying || isOver || this.#options.lost.failedOverAt !== null;
  }

  /** A payment leaves a process. */
  attempted(process: Owner, order: Order): void {
    const { violated, names, scheduler, clockSkewMs } = this.#options;
    const { customer, clientRequestId, endToEnd, txid } = order;
    const name = makeName(customer, clientRequestId);
    const send = this.#sends.get(name);
    const shown = names.of('E', endToEnd);
    if ((send === undefined) !== (txid === null))
      violated(`${name} leaves as ${shown} without saying its code`);
    if (!send || txid === null) return;
    const { lookUp, code } = send;
    if (lookUp.customer !== customer || lookUp.code !== code) {
      violated(`${name} leaves as ${shown} with a foreign look-up of a code`);
    }
    if (txid !== code.txid || order.pixKey !== code.key) {
      violated(`${name} leaves as ${shown} for another charge`);
    }
    const confirmedId = this.#endToEnd(lookUp);
    const isConfirmed = confirmedId === endToEnd;
    const answer = this.#codes?.answers.get(endToEnd);
    const confirmed = this.#codes?.answers.get(confirmedId);
    if (answer && (answer.code !== code || answer.customer !== customer)) {
      violated(`${name} leaves as ${shown}, an id of another payer or code`);
    }
    if (answer && !isAccepted(answer, order.amountCents)) {
      violated(`${name} leaves as ${shown} with an amount that does not pay its code`);
    }
    if (answer && confirmed && !isSameOwner(answer, confirmed)) {
      violated(`${name} leaves as ${shown} for another payee than confirmed`);
    }
    const nowMs = scheduler.nowMs + scheduler.clockOffsetMs(process);
    const isFresh = nowMs + 2 * clockSkewMs < lookUp.expiresAtMs;
    if (isFresh && !isConfirmed && !isFreed(name, this.#sends, this.#options.sends)) {
      violated(`${name} leaves as ${shown} although its look-up is fresh`);
    }
    if (send.requestedAtMs - clockSkewMs >= lookUp.expiresAtMs && isConfirmed) {
      violated(`${name} leaves as ${shown} although its look-up has expired`);
    }
    scheduler.count(isConfirmed ? 'codes paid by a look-up' : 'codes paid by another look-up');
  }

  /** The bank has executed a payment: no other one of the same customer has paid the charge. */
  executed(payment: Payment): void {
    const { scheduler, violated, lost, sends } = this.#options;
    const { customer, txid, clientRequestId } = payment;
    if (txid === null) return;
    scheduler.count('codes paid');
    const earlier = this.#executed.filter(
      (one) =>
        one.customer === customer && one.txid === txid && one.clientRequestId !== clientRequestId,
    );
    this.#executed.push(payment);
    for (const one of earlier) {
      if (sends.isTrue({ customer, key: one.clientRequestId }, 'FAILED')) {
        scheduler.count('codes paid again after a failure');
      } else if (lost.hasLostRecord(one)) {
        scheduler.count('codes paid again after a loss of commits');
      } else {
        violated(`${makeName(customer, clientRequestId)} pays ${txid}, which is paid`);
      }
    }
  }

  #isPaid({ txid }: Code): boolean {
    return this.#executed.some((one) => one.txid === txid);
  }

  #mayHaveExpired({ expiresAtMs }: ReceivedCode): boolean {
    const { scheduler, clockSkewMs } = this.#options;
    return scheduler.nowMs + 2 * clockSkewMs >= expiresAtMs;
  }

  #findAnswer(lookUp: ReceivedCode): CodeAnswer | undefined {
    return this.#codes?.answers.get(this.#endToEnd(lookUp));
  }

  /** @returns an empty text for a code that could not be paid. */
  #endToEnd({ customer, code, id }: ReceivedCode): string {
    const context = { sealer: this.#options.sealer, clock: { now: () => new Date(0) } };
    const opened = openCode(context as never, { userId: customer.id, url: code.url }, id);
    if (!opened) throw new Error('a look-up of a code cannot be opened');
    return opened.endToEnd;
  }
}

function isSameOwner({ owner: one }: CodeAnswer, { owner: other }: CodeAnswer): boolean {
  return one.document === other.document && one.ispb === other.ispb;
}
