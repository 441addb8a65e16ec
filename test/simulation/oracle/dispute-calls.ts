/**
 * Checks the calls about disputes as they leave: each was requested and claimed, names its dispute
 * by the same id, and two live processes never make the same one at once.
 */
import type { BankRequest } from '../bank/bank.ts';
import type { DisputeState } from '../bank/ledger.ts';
import type { BankResponse } from '../bank/responses.ts';
import type { Names } from '../names.ts';
import type { Owner, Scheduler } from '../scheduler.ts';
import { findDisputed } from '../wire/requests.ts';
import type { LostCommits } from './lost-commits.ts';
import type { StoredDisputes } from './stored-disputes.ts';

export interface DisputeCallsOptions {
  readonly stored: StoredDisputes;
  readonly lost: LostCommits;
  readonly names: Names;
  readonly scheduler: Scheduler;
  /** Whether clocks and processes run evenly: then a lease ends after its call. */
  readonly keepsLeases: boolean;
  readonly violated: (text: string) => void;
}

/** What a customer has requested about the dispute of a payment. */
export interface Requested {
  /** The contents of the requested disputes, as the bank receives them. */
  readonly contents: Set<string>;
  isWithdrawn: boolean;
}

interface Attempt {
  readonly process: Owner;
  readonly call: string;
}

/** The state of a dispute in a response that a process has received. */
export interface KnownState {
  readonly state: DisputeState;
  readonly process: Owner;
  readonly at: number;
}

export class DisputeCalls {
  readonly #options: DisputeCallsOptions;
  /** By the end-to-end id of the payment. */
  readonly #requested = new Map<string, Requested>();
  readonly #known = new Map<string, KnownState[]>();
  #open: Attempt[] = [];

  constructor(options: DisputeCallsOptions) {
    this.#options = options;
  }

  findRequested(endToEnd: string): Requested {
    const known = this.#requested.get(endToEnd);
    if (known) return known;
    const requested: Requested = { contents: new Set(), isWithdrawn: false };
    this.#requested.set(endToEnd, requested);
    return requested;
  }

  /** The states of the dispute of a payment in the responses so far. */
  listKnown(endToEnd: string): readonly KnownState[] {
    return this.#known.get(endToEnd) ?? [];
  }

  /** A call leaves a process. */
  left(process: Owner, request: BankRequest): void {
    const { violated, stored, scheduler, names, lost } = this.#options;
    const { method, body } = request;
    const endToEnd = findDisputed(request);
    const shown = `${method} of the dispute of ${names.of('E', endToEnd)}`;
    scheduler.count(`dispute calls ${method}`);
    if (method === 'GET') return;
    const row = stored.find(endToEnd);
    if (lost.failedOverAt === null) {
      if (row?.id !== body['disputeId']) violated(`${shown} left with another id`);
      if (row && !stored.wasClaimed(row.id)) violated(`${shown} left before it was claimed`);
    }
    const { contents, isWithdrawn } = this.findRequested(endToEnd);
    const isRequested = method === 'POST' ? contents.has(describeContent(body)) : isWithdrawn;
    if (!isRequested) violated(`${shown} left, and no customer has requested it so`);
    this.#checkAlone(shown);
    this.#open.push({ process, call: shown });
  }

  /** An attempt has ended; null: without a whole response. */
  ended(process: Owner, request: BankRequest, response: BankResponse | null): void {
    const { names, scheduler } = this.#options;
    const endToEnd = findDisputed(request);
    const call = `${request.method} of the dispute of ${names.of('E', endToEnd)}`;
    const open = this.#open.find((one) => one.process === process && one.call === call);
    this.#open = this.#open.filter((one) => one !== open);
    const state = response?.disputeState ?? null;
    if (state === null) return;
    const known = { state, process, at: scheduler.taken };
    this.#known.set(endToEnd, [...this.listKnown(endToEnd), known]);
  }

  #checkAlone(call: string): void {
    const { violated, scheduler, keepsLeases, lost } = this.#options;
    if (!keepsLeases || lost.failedOverAt !== null) return;
    const isMade = this.#open.some((one) => one.call === call && !scheduler.isBuried(one.process));
    if (isMade) violated(`${call} is made twice at once`);
  }
}

/** The content of a dispute, as one text. */
export function describeContent(body: Readonly<Record<string, unknown>>): string {
  return JSON.stringify([body['situation'], body['details'] ?? null]);
}
