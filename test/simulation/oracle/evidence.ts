/**
 * What the service can know about each payment. Three sources prove the final status of a payment:
 * the responses to its attempts, while the process that has them is alive; the events that the
 * service has acknowledged; the provider's statement. At rest a payment must have the status that a
 * source proves; if no source proves one, each gives its reason.
 */
import type { BankResponse, Proof } from '../bank/responses.ts';
import type { Ledger, Payment } from '../bank/ledger.ts';
import type { Notice } from '../bank/notices.ts';
import type { Policy } from '../bank/policy.ts';
import { whatStatementLacks } from '../bank/statement.ts';
import { unlistedCodes } from '../bank/words.ts';
import type { Hazards } from '../hazards.ts';
import type { Owner, Scheduler } from '../scheduler.ts';
import { computeHash } from '../payload-hash.ts';
import { LostCommits } from './lost-commits.ts';

/** The result of an attempt, as known to its process; `open`: not known yet. */
type AttemptEnd = Proof | 'not_sent' | 'open';

interface Attempt {
  readonly process: Owner;
  end: AttemptEnd;
  /** The step at which the process knew the result. */
  endedAt: number | null;
}

/** The evidence about one end-to-end id. */
interface Send {
  readonly attempts: Attempt[];
  /** The process that has stored PAYING, and the step. */
  payer: { readonly process: Owner; readonly at: number } | null;
  readonly events: TrackedEvent[];
  /** The service has stored that it repeats an attempt that ended unknown. */
  isNoted: boolean;
}

interface TrackedEvent {
  readonly notice: Notice;
  state: 'under_way' | 'acknowledged' | 'given_up' | 'lost';
}

/** The final status that a source proves, and the name of the source. */
export interface Proven {
  readonly end: 'completed' | 'accepted' | 'failed';
  readonly by: string;
}

export interface EvidenceOptions {
  readonly ledger: Ledger;
  readonly policy: Policy;
  readonly hazards: Hazards;
  readonly scheduler: Scheduler;
}

export class Evidence {
  /** The commits that a failover has lost, if there was one. */
  readonly lost = new LostCommits();
  readonly #options: EvidenceOptions;
  readonly #sends = new Map<string, Send>();
  /** The step at which a statement of a process has last failed. */
  readonly #databaseFailedAt = new Map<Owner, number>();

  #stored: ReadonlySet<string> | null = null;

  constructor(options: EvidenceOptions) {
    this.#options = options;
  }

  /** A process has stored PAYING; the response of the database may be lost. */
  beganPaying(process: Owner, endToEnd: string): void {
    this.findSend(endToEnd).payer ??= { process, at: this.#options.scheduler.taken };
  }

  /** A process has stored that it repeats an attempt; the response of the database may be lost. */
  noted(endToEnd: string): void {
    this.findSend(endToEnd).isNoted = true;
  }

  attemptLeft(process: Owner, endToEnd: string): void {
    this.findSend(endToEnd).attempts.push({ process, end: 'open', endedAt: null });
  }

  attemptNotSent(process: Owner, endToEnd: string): void {
    const { taken: endedAt } = this.#options.scheduler;
    this.findSend(endToEnd).attempts.push({ process, end: 'not_sent', endedAt });
  }

  /** @param response the response that the process has received; null: none, or only a part. */
  attemptEnded(process: Owner, endToEnd: string, response: BankResponse | null): void {
    const attempt = this.findSend(endToEnd).attempts.findLast(
      (one) => one.process === process && one.end === 'open',
    );
    if (!attempt) return;
    attempt.end = response?.proves ?? 'nothing';
    attempt.endedAt = this.#options.scheduler.taken;
  }

  /** @returns the delivery of the notice, to be updated. */
  posted(notice: Notice): TrackedEvent {
    const event: TrackedEvent = { notice, state: 'under_way' };
    if (notice.endToEnd !== null) this.findSend(notice.endToEnd).events.push(event);
    return event;
  }

  /** The events of a payment that the service has acknowledged and can read. */
  listRead(endToEnd: string | null): Notice[] {
    const events = endToEnd === null ? [] : this.findSend(endToEnd).events;
    return events
      .filter(({ notice, state }) => state === 'acknowledged' && notice.isReadable)
      .map(({ notice }) => notice);
  }

  /** Whether an attempt at a payment has left a process. */
  hasLeft(endToEnd: string): boolean {
    return this.findSend(endToEnd).attempts.some(({ end }) => end !== 'not_sent');
  }

  /** A failover has lost the record that a payment may have left. */
  forgot(endToEnd: string): void {
    this.findSend(endToEnd).payer = null;
  }

  /** After a failover: the hashes of the events that are stored. */
  stored(hashes: ReadonlySet<string>): void {
    this.#stored = hashes;
  }

  databaseFailed(process: Owner): void {
    this.#databaseFailedAt.set(process, this.#options.scheduler.taken);
  }

  /** Whether a statement of a process has failed since a step. */
  hasDatabaseFailedSince(process: Owner, step: number): boolean {
    return (this.#databaseFailedAt.get(process) ?? -1) >= step;
  }

  /** The step at which a process learnt the result of a payment's last attempt, or null. */
  lastAttemptEndedAt(endToEnd: string): number | null {
    return this.findSend(endToEnd).attempts.at(-1)?.endedAt ?? null;
  }

  /**
   * Weighs the evidence about a payment.
   * @returns what each source proves, and the reasons of the sources that prove nothing.
   */
  weigh(endToEnd: string): { readonly proven: Proven[]; readonly lacks: string[] } {
    const send = this.findSend(endToEnd);
    const isOutcomeLost = this.lost.hasLostOutcome(endToEnd);
    const responses = isOutcomeLost
      ? 'a failover has lost the responses'
      : this.#fromResponses(send);
    const found = [responses, this.#fromEvents(endToEnd), this.#fromStatement(endToEnd)];
    return {
      proven: found.filter((one) => typeof one !== 'string'),
      lacks: found.filter((one) => typeof one === 'string'),
    };
  }

  /** What the responses to the attempts prove to a live process; null: nothing. */
  responsesProve(endToEnd: string): Proven['end'] | null {
    const proven = this.#fromResponses(this.findSend(endToEnd));
    return typeof proven === 'string' ? null : proven.end;
  }

  /** Whether a response to an attempt has said that the payment was completed. */
  wasAnsweredCompleted(endToEnd: string): boolean {
    return this.findSend(endToEnd).attempts.some(({ end }) => end === 'completed');
  }

  /** Whether an acknowledged event says that the payment was completed. */
  isReportedCompleted(endToEnd: string): boolean {
    const reported = this.#fromEvents(endToEnd);
    return typeof reported !== 'string' && reported.end === 'completed';
  }

  /**
   * Whether a `failed` event is no proof: it may report one attempt among several, also where a
   * failover has lost the record of the attempts.
   */
  isInDoubt(endToEnd: string): boolean {
    return isDoubtful(this.findSend(endToEnd)) || this.lost.mayHaveLostAttempts(endToEnd);
  }

  findSend(endToEnd: string): Send {
    const known = this.#sends.get(endToEnd);
    if (known) return known;
    const send: Send = { attempts: [], payer: null, events: [], isNoted: false };
    this.#sends.set(endToEnd, send);
    return send;
  }

  #fromResponses({ attempts, payer }: Send): Proven | string {
    const { scheduler, hazards } = this.#options;
    const by = 'the responses that a live process has';
    if (!payer) return 'the payment has not begun';
    const { process, at } = payer;
    if (scheduler.isBuried(process)) return 'the process that had the responses is dead';
    const faultAt = this.#databaseFailedAt.get(process) ?? -1;
    if (faultAt >= at && !hazards.has('stored_knowledge')) {
      return 'the database failed the process that has the responses';
    }
    const ends = attempts.map(({ end }) => end);
    if (ends.includes('completed')) return { end: 'completed', by };
    if (ends.includes('accepted')) return { end: 'accepted', by };
    if (ends.includes('open') || ends.includes('nothing')) return 'a response proves nothing';
    return { end: 'failed', by };
  }

  #fromEvents(endToEnd: string): Proven | string {
    const { events } = this.findSend(endToEnd);
    const by = 'an acknowledged event';
    if (events.length === 0) return 'no event was posted';
    const acknowledged = events.filter(({ state }) => state === 'acknowledged');
    const taken = acknowledged.filter(({ notice }) => this.#isKept(notice));
    if (acknowledged.length > 0 && taken.length === 0) return 'a failover has lost the events';
    if (taken.length === 0) return 'every event was lost or given up by the provider';
    const read = taken.filter(({ notice }) => notice.isReadable);
    if (read.length === 0) return 'the words of the events are not documented';
    if (read.some(({ notice }) => notice.status === 'completed')) return { end: 'completed', by };
    const failures = read.filter(({ notice }) => !hasUnlistedCode(notice));
    if (failures.length === 0) return 'the events have a code that no table has';
    if (this.isInDoubt(endToEnd)) return 'the event may report one attempt among several';
    return { end: 'failed', by };
  }

  #isKept({ payload }: Notice): boolean {
    return this.#stored === null || this.#stored.has(computeHash(payload));
  }

  #fromStatement(endToEnd: string): Proven | string {
    const { ledger, policy } = this.#options;
    const payment = ledger.payments.find((one) => one.endToEnd === endToEnd);
    if (!payment) return 'the statement does not show what was not executed';
    if (ledger.cut.has(payment.customer)) return 'the last statement may be one of several pages';
    const lack = whatStatementLacks(policy, payment);
    return lack ?? { end: 'completed', by: 'the statement' };
  }
}

/** Whether an attempt ended unknown and another one was made. */
function isDoubtful({ attempts, isNoted }: Send): boolean {
  return isNoted || attempts.slice(0, -1).some(({ end }) => end !== 'not_sent');
}

/** Whether an event has a code that no table has: it proves nothing about the payment. */
export function hasUnlistedCode({ error }: Pick<Notice, 'error'>): boolean {
  return unlistedCodes.some((code) => code === error?.code);
}

/** Whether a notice reports the real status of its payment. */
export function isTrue(notice: Notice, payments: readonly Payment[]): boolean {
  const { endToEnd, status } = notice;
  const state = payments.find((one) => one.endToEnd === endToEnd)?.state ?? 'reversed';
  return status === 'completed' ? state === 'completed' : state === 'reversed';
}
