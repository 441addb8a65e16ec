/**
 * The bank: the simulated one as it is, and around it the watch over what reaches it and what it
 * executes. Payments settle when the scheduler comes to it, which may be before their answer.
 */
import { type ProviderCall, withOptions } from '../../src/provider/methods.ts';
import type {
  PaymentOrder,
  PaymentReceipt,
  Provider,
  ProviderSession,
  ProviderStatement,
  StatementPayment,
} from '../../src/provider/provider.ts';
import type { Bank } from '../../src/provider/stub/bank.ts';
import { createStubProvider } from '../../src/provider/stub/index.ts';
import type { LedgerView, PaymentState } from './ledger.ts';
import type { Names } from './names.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import type { StoredCustomer } from './store.ts';
import type { Truth } from './truth.ts';
import type { Weather } from './weather.ts';

export interface DeskOptions {
  readonly bank: Bank;
  readonly ledger: LedgerView;
  readonly truth: Truth;
  readonly names: Names;
  readonly scheduler: Scheduler;
  readonly weather: () => Weather;
}

/** How often a receipt tells what the bank knows of the payment, in place of PROCESSING. */
const frankness = 0.2;

const statusOf = { completed: 'COMPLETED', under_way: 'PROCESSING', reversed: 'FAILED' } as const;

export class BankDesk {
  readonly provider: Provider;
  readonly owner: Owner = { name: 'bank' };
  /** The executed payments whose end is still to be told. */
  unsettled = 0;
  readonly #executedAtMs = new Map<string, number>();
  readonly #options: DeskOptions;

  constructor(options: DeskOptions) {
    this.#options = options;
    this.provider = createStubProvider(options.bank);
  }

  /** Does what a call asks for; one that arrives late is carried out all the same. */
  async perform(call: ProviderCall): Promise<unknown> {
    const invoke = (): Promise<unknown> => call.invoke(withOptions(call, {}));
    if (call.method === 'pay') return this.#pay(call, invoke);
    return call.method === 'statement' ? this.#statement(invoke) : invoke();
  }

  /** The token that a call was made with is not good any more. */
  expireToken(call: ProviderCall): void {
    if (call.method === 'login') return;
    this.#options.bank.expireToken((call.args[0] as ProviderSession).token);
  }

  describe({ method, args }: ProviderCall): string {
    if (method === 'login') return method;
    const { name } = this.#customerOf(args[0] as ProviderSession);
    if (method !== 'pay') return `${method} for ${name}`;
    const { clientRequestId, endToEnd } = args[1] as PaymentOrder;
    return `pay ${name}/${clientRequestId} ${this.#options.names.of('E', endToEnd)}`;
  }

  async #pay(call: ProviderCall, invoke: () => Promise<unknown>): Promise<PaymentReceipt> {
    const { ledger, truth, scheduler } = this.#options;
    const [session, order] = call.args as [ProviderSession, PaymentOrder];
    const customer = this.#customerOf(session);
    const isNew = ledger.payment(customer, order.endToEnd) === null;
    truth.attempted(customer, order);
    const receipt = (await invoke()) as PaymentReceipt;
    const state = ledger.payment(customer, order.endToEnd)?.state ?? 'under_way';
    if (isNew) {
      truth.executed(customer, order);
      this.#executedAtMs.set(order.endToEnd, scheduler.nowMs);
      this.#settleLater(order.endToEnd);
    }
    return scheduler.chance.happens(frankness) ? frank(receipt, state) : receipt;
  }

  /** The bank's statement is a little behind its ledger. */
  async #statement(invoke: () => Promise<unknown>): Promise<ProviderStatement> {
    const { scheduler, weather } = this.#options;
    const { items, payments } = (await invoke()) as ProviderStatement;
    const shownUntilMs = scheduler.nowMs - weather().statementLagMs;
    const isShown = ({ endToEnd }: StatementPayment): boolean =>
      (this.#executedAtMs.get(endToEnd) ?? 0) <= shownUntilMs;
    return { items, payments: payments.filter(isShown) };
  }

  #settleLater(endToEnd: string): void {
    const { bank, scheduler, names, weather } = this.#options;
    this.unsettled += 1;
    const settle = async (): Promise<void> => {
      await bank.settle(endToEnd);
      this.unsettled -= 1;
    };
    const label = `bank settles ${names.of('E', endToEnd)}`;
    scheduler.after(this.owner, scheduler.chance.delayMs(weather().slowestNoticeMs), () =>
      scheduler.submit({ owner: this.owner, label, run: settle }),
    );
  }

  #customerOf({ userId }: ProviderSession): StoredCustomer {
    const customer = this.#options.ledger.customers.find(({ id }) => id === userId);
    if (!customer) throw new Error('the bank does not know the customer');
    return customer;
  }
}

function frank(receipt: PaymentReceipt, state: PaymentState): PaymentReceipt {
  return { ...receipt, status: statusOf[state] };
}
