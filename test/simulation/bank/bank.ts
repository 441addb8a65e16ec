/**
 * The bank of a seed: it handles each request, keeps the ledger that the checks compare everything
 * with, and answers by the seed's policy. It shares no code with the service's simulated bank.
 */
import type { Chance } from '../chance.ts';
import type { StoredCustomer } from '../store.ts';
import {
  duplicate,
  json,
  receipt,
  refusal,
  result,
  type BankResponse,
  type PaymentRequest,
} from './responses.ts';
import { writeClearStatement } from './clear-statement.ts';
import type { Codes } from './codes.ts';
import type { Collections } from './collections.ts';
import { ownIspb, type Directory } from './directory.ts';
import type { Disputes } from './disputes.ts';
import type { Ids } from './ids.ts';
import type { Ledger, Payment } from './ledger.ts';
import { writeNotice, type EventFacts, type Notice } from './notices.ts';
import type { Policy } from './policy.ts';
import type { Returns } from './returns.ts';
import { writeStatement } from './statement.ts';
import { unlistedResponse } from './unlisted-responses.ts';
import { findDisputed, isDispute } from '../wire/requests.ts';
import { refusals, unlistedCodes } from './words.ts';

/** A request, as the bank has received it. */
export interface BankRequest {
  readonly method: string;
  readonly url: URL;
  readonly token: string | null;
  readonly body: Readonly<Record<string, unknown>>;
  /** A device on the network has sent the request twice; the service knows of one attempt. */
  readonly isHiddenRepeat?: true;
  readonly isOfEndedSession?: true;
}

export interface BankOptions {
  readonly policy: Policy;
  readonly ledger: Ledger;
  readonly chance: Chance;
  readonly ids: Ids;
  readonly collections: Collections;
  readonly returns: Returns;
  readonly disputes: Disputes;
  readonly directory: Directory;
  readonly codes: Codes;
  readonly nowMs: () => number;
  /** How long an executed payment is missing from the statement, in milliseconds. */
  readonly statementLagMs: () => number;
  /** Sends a notice to the service; `cancel` withdraws it while it is not delivered. */
  readonly post: (notice: Notice) => { readonly cancel: () => void };
  /** Counts what occurs, by name. */
  readonly count: (name: string) => void;
  /** Called for each payment that was executed. */
  readonly executed: (payment: Payment) => void;
  /** Called for each payment that was completed: it may be refunded or disputed. */
  readonly completed: (payment: Payment) => void;
  /** Called for each key that was looked up: its owner may change. */
  readonly lookedUp: (key: string) => void;
}

/** The keys that clients pay to. The bank refuses or returns payments to some of them. */
export const pixKeys = {
  paid: 'loja@example.com',
  returned: 'fail@ponte.test',
  refused: 'reject@ponte.test',
  notFound: 'notfound@ponte.test',
  flaky: 'flaky@ponte.test',
} as const;

/** How likely an adversary's look-up does not say who owns the key. */
const namelessOwners = 0.2;

/** How likely a payment is settled before its response, if the response reports its real status. */
const settledAtOnce = 0.3;

export class Bank {
  /** Whether the history is over: the statement shows everything. */
  isClear = false;
  readonly #options: BankOptions;
  readonly #tokens = new Map<string, StoredCustomer>();
  readonly #flakyCustomers = new Set<StoredCustomer>();
  /** The undelivered notices of attempts that failed inside the bank, by end-to-end id. */
  readonly #failedAttempts = new Map<
    string,
    { readonly cancel: () => void; readonly atMs: number }
  >();

  constructor(options: BankOptions) {
    this.#options = options;
  }

  /** Opens a session. @returns a new token of the customer. */
  open(customer: StoredCustomer): string {
    const token = `token-${this.#options.ids.next()}`;
    this.#tokens.set(token, customer);
    return token;
  }

  expire(token: string | null): void {
    if (token !== null) this.#tokens.delete(token);
  }

  /** The customer of a request; null when its token is invalid. */
  findCustomer({ token }: BankRequest): StoredCustomer | null {
    return (token === null ? undefined : this.#tokens.get(token)) ?? null;
  }

  /** Executes a request; one that arrives late is executed too. */
  handle(request: BankRequest): BankResponse {
    const path = request.url.pathname.replace('/internal/api/v1', '');
    if (path === '/auth/login') return this.#logIn(request);
    const customer = this.findCustomer(request);
    if (!customer) return { ...json(401, { message: 'Unauthorized' }), summary: '401' };
    if (isDispute(request)) {
      const endToEnd = findDisputed(request);
      return this.#options.disputes.respond(customer, { ...request, endToEnd });
    }
    switch (path) {
      case '/keys/dict':
        return this.#lookUp(customer, request);
      case '/payments/qrcode/decode':
        return this.#readCode(customer, request);
      case '/payments':
        return this.#respondToPayment(customer, readPaymentRequest(request));
      case '/payments/refund':
        return this.#options.returns.respond(customer, request.body);
      case '/payments/qrcode/dynamic':
      case '/payments/qrcode/static': {
        const kind = path.endsWith('static') ? 'static' : 'dynamic';
        return this.#options.collections.makeCharge(customer, { kind, body: request.body });
      }
      case '/account/statement':
        return this.#statement(customer, request);
      case '/keys/list':
        return result(this.#options.policy, { keys: this.#options.directory.listKeys(customer) });
      default:
        return json(404, { message: `Cannot ${request.method} ${path}` });
    }
  }

  /** Makes a payment final and reports it in a notice. */
  settle(payment: Payment): void {
    if (payment.state !== 'under_way') return;
    payment.state = payment.end;
    if (payment.end === 'completed' && payment.payee) {
      this.#options.collections.credit(payment, payment.payee);
    }
    if (payment.end === 'completed') this.#options.completed(payment);
    const { endToEnd, clientRequestId, amountCents, bankId } = payment;
    const facts = { endToEnd, clientRequestId, amountCents, bankId };
    const error = this.#unlistedError();
    if (payment.end === 'completed') {
      if (error) this.#postEvent({ ...facts, status: 'failed', error });
      this.#postEvent({ ...facts, status: 'completed' });
    } else {
      this.#postEvent({ ...facts, status: 'failed', ...(error && { error }) });
    }
  }

  /** The error of an ERROR event whose code no table has, or null. */
  #unlistedError(): EventFacts['error'] | null {
    const { policy, chance, count } = this.#options;
    if (!chance.happens(policy.adversary.unlistedCodes)) return null;
    count('events with an unlisted code');
    return { code: chance.pick(unlistedCodes) };
  }

  #logIn({ body }: BankRequest): BankResponse {
    const { ledger, policy } = this.#options;
    const customer = ledger.customers.find(({ email }) => email === body['email']);
    if (!customer) return json(422, { message: 'Credenciais inválidas' });
    const { agency, accountNumber, document } = customer.account;
    const account = { agency, accountNumber, document };
    return result(policy, { access_token: this.open(customer), ...account });
  }

  #lookUp(customer: StoredCustomer, { body }: BankRequest): BankResponse {
    const { policy, ids, nowMs, ledger, directory, chance, lookedUp } = this.#options;
    const key = String(body['key']);
    if (key === pixKeys.notFound) return json(404, { code: 'NOT_FOUND', message: 'Not found' });
    if (key === pixKeys.flaky && !this.#flakyCustomers.has(customer)) {
      this.#flakyCustomers.add(customer);
      return json(503, { message: 'Service Unavailable' });
    }
    const endToEnd = ids.endToEnd(ownIspb, nowMs());
    const isNameless = policy.adversary.movingKeys > 0 && chance.happens(namelessOwners);
    const owner = isNameless ? null : directory.findOwner(key);
    ledger.issued.set(endToEnd, { customer, key, owner });
    lookedUp(key);
    return result(policy, {
      endToEnd,
      key,
      ...(owner && {
        owner: { name: owner.name, taxIdNumber: owner.document },
        account: { participant: owner.ispb },
      }),
    });
  }

  #readCode(customer: StoredCustomer, { body }: BankRequest): BankResponse {
    const { policy, codes } = this.#options;
    const code = codes.withText(body['emv']);
    if (!code) return json(404, { code: 'NOT_FOUND', message: 'Not found' });
    return result(policy, codes.read(customer, code));
  }

  /** Answers the payment, sometimes in a form that is in no list, or with a false refusal. */
  #respondToPayment(customer: StoredCustomer, request: PaymentRequest): BankResponse {
    const { ledger, policy, chance, count } = this.#options;
    const { unlistedResponses, falseRefusals } = policy.adversary;
    const response = this.#pay(customer, request);
    const payment = ledger.payment(customer, request.endToEnd);
    const end = payment ? 'executed' : 'not executed';
    if (chance.happens(unlistedResponses)) {
      count(`unlisted responses, ${end}`);
      return unlistedResponse(chance, request);
    }
    if (!payment || payment.state !== 'under_way' || !chance.happens(falseRefusals))
      return response;
    payment.isDenied = true;
    count('false refusals');
    const denial = refusal(policy, chance.pick(refusals.account), request);
    return { ...denial, summary: `false ${denial.summary}` };
  }

  #pay(customer: StoredCustomer, request: PaymentRequest): BankResponse {
    const { ledger, policy, chance } = this.#options;
    const executed = ledger.payment(customer, request.endToEnd);
    if (executed) return this.#repeat(executed, request);
    const other = this.#withKey(customer, request.clientRequestId);
    if (other) return this.#repeat(other, request);
    const failure = this.findRefusal(customer, request);
    if (failure) return refusal(policy, failure, request);
    const mayFail = !this.#failedAttempts.has(request.endToEnd) && !request.isOfEndedSession;
    if (mayFail && chance.happens(policy.failedAttempts)) {
      return this.#failInside(request);
    }
    return this.#execute(customer, request);
  }

  findRefusal(customer: StoredCustomer, request: PaymentRequest) {
    const { ledger, chance, codes } = this.#options;
    const isRefused = codes.withKey(request.key)?.end === 'refused';
    if (isRefused || request.key === pixKeys.refused) return chance.pick(refusals.account);
    const isCovered = request.amountCents <= ledger.getBalanceCents(customer);
    return isCovered ? null : chance.pick(refusals.funds);
  }

  #withKey(customer: StoredCustomer, key: string): Payment | undefined {
    const { ledger, policy } = this.#options;
    const others = {
      payment: [],
      user: ledger.listPayments(customer),
      company: ledger.payments,
    }[policy.keysUniquePer];
    return others.find(({ clientRequestId }) => clientRequestId === key);
  }

  #repeat(executed: Payment, request: PaymentRequest): BankResponse {
    const { policy, chance } = this.#options;
    if (policy.repeat === 'replayed') {
      const isOwn = executed.endToEnd === request.endToEnd;
      const replay = receipt(policy, executed);
      return isOwn
        ? replay
        : { ...replay, proves: 'nothing', summary: `foreign ${replay.summary}` };
    }
    if (policy.repeatEvents && executed.endToEnd === request.endToEnd) {
      const error = { code: 'PBE300', description: 'Duplicated EndToEndId' };
      this.#postEvent({ ...request, status: 'failed', error });
    }
    return duplicate(policy, request, chance);
  }

  /** The attempt fails and leaves no trace: the bank executes its repeat as a first attempt. */
  #failInside(request: PaymentRequest): BankResponse {
    const error = { code: 'AB03', description: 'settlement timeout' };
    const { cancel } = this.#postEvent({ ...request, status: 'failed', error });
    this.#failedAttempts.set(request.endToEnd, { cancel, atMs: this.#options.nowMs() });
    return { ...json(500, { message: 'Internal Server Error' }), summary: '500 failed inside' };
  }

  #execute(customer: StoredCustomer, request: PaymentRequest): BankResponse {
    const { ledger, policy, chance, nowMs, ids, directory, codes } = this.#options;
    const { endToEnd, clientRequestId, amountCents, key, txid } = request;
    const isReversed = key === pixKeys.returned || codes.withKey(key)?.end === 'reversed';
    // The service could not distinguish this failure from a failure of the payment.
    const isHidden = !policy.lateFailures || request.isHiddenRepeat;
    if (isHidden) this.#failedAttempts.get(endToEnd)?.cancel();
    const payee = directory.findCustomer(key);
    const payment = ledger.execute({
      customer,
      endToEnd,
      clientRequestId,
      amountCents,
      bankId: `bank-${ids.next()}`,
      payee: payee === customer ? null : payee,
      end: isReversed ? 'reversed' : 'completed',
      txid,
      executedAtMs: nowMs(),
    });
    this.#options.executed(payment);
    const isSettled = policy.receiptStatus === 'frank' && chance.happens(settledAtOnce);
    if (isSettled) this.settle(payment);
    return receipt(policy, payment);
  }

  #statement(customer: StoredCustomer, { url }: BankRequest): BankResponse {
    const { policy, ledger, nowMs, statementLagMs } = this.#options;
    if (this.isClear) {
      const of = <One extends { readonly customer: StoredCustomer }>(all: readonly One[]): One[] =>
        all.filter((one) => one.customer === customer);
      const { payments, receipts, refunds } = ledger;
      const { takenBack } = ledger;
      const all = {
        payments: of(payments),
        receipts: of(receipts),
        refunds: of(refunds),
        takenBack,
      };
      ledger.cut.delete(customer);
      return json(200, writeClearStatement({ ...all, ...policy.statement }));
    }
    const [fromMs, untilMs] = ['startDate', 'endDate'].map((name) =>
      Date.parse(`${url.searchParams.get(name)}T03:00:00.000Z`),
    ) as [number, number];
    if ((untilMs - fromMs) / dayMs + 1 > policy.statement.maxDays) {
      return json(400, { code: 'RANGE_TOO_LONG', message: 'Período muito longo' });
    }
    const shownUntilMs = Math.min(untilMs + dayMs, nowMs() - statementLagMs());
    const isShown = (atMs: number): boolean => atMs >= fromMs && atMs <= shownUntilMs;
    const payments = ledger.listPayments(customer).filter((one) => isShown(one.executedAtMs));
    const receipts = ledger.receipts.filter(
      (one) => one.customer === customer && isShown(one.atMs),
    );
    const returns = ledger.returns.filter(
      (one) => one.customer === customer && isShown(one.executedAtMs),
    );
    const { body, isWhole } = writeStatement(policy, { payments, receipts, returns });
    const listed = [...payments, ...(policy.adversary.listsReceipts ? receipts : [])];
    if (isWhole) ledger.cut.delete(customer);
    else ledger.cut.add(customer);
    if (isWhole) for (const { endToEnd } of listed) ledger.shown.add(endToEnd);
    if (isWhole) for (const { returnId } of returns) ledger.shown.add(returnId);
    else this.#options.count('statements with further pages');
    return json(200, body);
  }

  #postEvent(facts: EventFacts): { readonly cancel: () => void } {
    const { chance, policy, post } = this.#options;
    return post(writeNotice(chance, facts, policy.vocabulary));
  }
}

const dayMs = 24 * 60 * 60_000;

function readPaymentRequest({
  body,
  isHiddenRepeat,
  isOfEndedSession,
}: BankRequest): PaymentRequest {
  const { endToEnd, clientRequestId, key, amount, transactionIdentification: txid = null } = body;
  return {
    txid: typeof txid === 'string' ? txid : null,
    endToEnd: String(endToEnd),
    clientRequestId: String(clientRequestId),
    key: String(key),
    amountCents: Math.round(Number(amount) * 100),
    ...(isHiddenRepeat && { isHiddenRepeat }),
    ...(isOfEndedSession && { isOfEndedSession }),
  };
}
