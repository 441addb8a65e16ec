/** The provider of a history: its bank, its incoming PIX, and the payers at other institutions. */
import { Bank, type BankOptions } from './bank/bank.ts';
import { Codes, drawCodes } from './bank/codes.ts';
import { Collections, type CollectionsOptions } from './bank/collections.ts';
import { Directory } from './bank/directory.ts';
import { Disputes, type DisputesOptions } from './bank/disputes.ts';
import { Ids } from './bank/ids.ts';
import type { Ledger, Payment } from './bank/ledger.ts';
import type { Policy } from './bank/policy.ts';
import { Returns, type ReturnsOptions } from './bank/returns.ts';
import type { Names } from './names.ts';
import { KeyCarrier } from './key-carrier.ts';
import { Payers } from './payers.ts';
import { Refunders, type RefundersOptions } from './refunders.ts';
import type { FaultProfile } from './fault-profile.ts';
import type { Owner, Scheduler } from './scheduler.ts';

export interface ProviderSideOptions {
  readonly seed: number;
  /** Whether there are dynamic codes, whatever the seed draws. */
  readonly hasCodes: boolean;
  readonly policy: Policy;
  readonly ledger: Ledger;
  readonly names: Names;
  readonly scheduler: Scheduler;
  readonly statementLagMs: BankOptions['statementLagMs'];
  readonly post: BankOptions['post'];
  readonly postReceived: CollectionsOptions['post'];
  readonly postRefund: RefundersOptions['postRefund'];
  readonly postExpiry: RefundersOptions['postExpiry'];
  readonly postReturnFailure: RefundersOptions['postRefund'];
  readonly postDispute: DisputesOptions['post'];
  /** Called for each return that was executed. */
  readonly returned: ReturnsOptions['executed'];
  /** Called for each payment that was executed. */
  readonly executed: BankOptions['executed'];
  readonly profile: () => FaultProfile;
}

/** Longer than a look-up is fresh. */
const slowestMoveMs = 600_000;

export class ProviderSide {
  readonly bank: Bank;
  readonly keyCarrier: KeyCarrier;
  readonly directory: Directory;
  readonly codes: Codes;
  readonly payers: Payers;
  readonly refunders: Refunders;
  readonly returns: Returns;
  readonly disputes: Disputes;
  /** The open work of the bank: payments to settle, and PIX to receive. */
  unsettled = 0;
  readonly #options: ProviderSideOptions;
  readonly #owner: Owner = { name: 'bank' };

  constructor(options: ProviderSideOptions) {
    this.#options = options;
    const { policy, ledger, scheduler, statementLagMs, post, postReceived, executed } = options;
    const { chance } = scheduler;
    const common = { policy, ledger, chance, ids: new Ids(), nowMs: () => scheduler.nowMs };
    this.directory = new Directory(ledger.customers);
    this.codes = new Codes({ ...common, codes: drawCodes(options.seed, options.hasCodes) });
    const collections = new Collections({
      ...common,
      post: postReceived,
      made: (charge) => {
        this.payers.made(charge);
        this.refunders.made(charge);
      },
      received: (receipt) => this.refunders.received(receipt),
    });
    const { postRefund, postExpiry, postReturnFailure } = options;
    this.returns = new Returns({
      ...common,
      postRefund,
      postFailure: postReturnFailure,
      count: (name) => scheduler.count(name),
      executed: (made) => {
        options.returned(made);
        const delayMs = chance.delayMs(policy.slowestSettlementMs);
        const label = `bank settles ${options.names.of('D', made.returnId)}`;
        this.#later(delayMs, label, () => this.returns.settle(made));
      },
    });
    this.refunders = new Refunders({
      scheduler,
      ledger,
      policy,
      ids: common.ids,
      postRefund,
      postExpiry,
      later: (delayMs, label, work) => this.#later(delayMs, label, work),
    });
    this.disputes = new Disputes({
      ...common,
      post: options.postDispute,
      count: (name) => scheduler.count(name),
      later: (delayMs, label, work) => this.#later(delayMs, label, work),
      accepted: (payment) => this.refunders.recovered(payment),
    });
    this.keyCarrier = new KeyCarrier({
      directory: this.directory,
      collections,
      scheduler,
      profile: options.profile,
      likelihood: policy.adversary.movingKeys,
    });
    this.payers = new Payers({
      scheduler,
      collections,
      copiedCodes: policy.adversary.copiedCodes,
      later: (delayMs, label, work) => this.#later(delayMs, label, work),
    });
    this.bank = new Bank({
      ...common,
      collections,
      returns: this.returns,
      disputes: this.disputes,
      directory: this.directory,
      codes: this.codes,
      count: (name) => scheduler.count(name),
      lookedUp: (key) => this.#moveLater(key),
      statementLagMs,
      post,
      executed: (payment) => {
        executed(payment);
        this.#settleLater(payment);
      },
      completed: (payment) => {
        this.refunders.paid(payment);
        this.disputes.paid(payment);
      },
    });
  }

  /** The owner of a key may change soon after a look-up. */
  #moveLater(key: string): void {
    const { scheduler, policy } = this.#options;
    const isOfCustomer = this.directory.findCustomer(key) !== null;
    if (isOfCustomer || !scheduler.chance.happens(policy.adversary.movingKeys)) return;
    scheduler.count('keys that get another owner');
    const delayMs = scheduler.chance.delayMs(slowestMoveMs);
    this.#later(delayMs, 'a key gets another owner', () => this.directory.move(key));
  }

  /** The scheduler picks the step that settles a payment, possibly before its response. */
  #settleLater(payment: Payment): void {
    const { scheduler, policy, names } = this.#options;
    const delayMs = scheduler.chance.delayMs(policy.slowestSettlementMs);
    const label = `bank settles ${names.of('E', payment.endToEnd)}`;
    this.#later(delayMs, label, () => this.bank.settle(payment));
  }

  #later(delayMs: number, label: string, work: () => void): void {
    const { scheduler } = this.#options;
    const owner = this.#owner;
    this.unsettled += 1;
    const run = (): void => {
      work();
      this.unsettled -= 1;
    };
    scheduler.after(owner, delayMs, () => scheduler.submit({ owner, label, run }));
  }
}
