/**
 * Delivers the bank's webhooks: late, repeated, in another form, out of order, or lost; any live
 * process receives them, and they are posted again until one accepts them or the provider gives up.
 */
import type { ProviderEvent } from '../../contract/types.ts';
import type { Context } from '../../src/context/context.ts';
import type { receiveProviderWebhook } from '../../src/settlement/receive-provider-webhook.ts';
import type { DisputeNotice } from './bank/dispute-notices.ts';
import type { ExpiryNotice, RefundNotice } from './bank/later-notices.ts';
import { writeNotice, type Notice } from './bank/notices.ts';
import type { Policy } from './bank/policy.ts';
import type { ReceivedNotice } from './bank/received-notices.ts';
import type { Delivery } from './delivery.ts';
import type { Processes } from './processes.ts';
import type { Names } from './names.ts';
import type { Disputes } from './oracle/disputes.ts';
import type { Evidence } from './oracle/evidence.ts';
import type { Expiries } from './oracle/expiries.ts';
import type { Receipts } from './oracle/receipts.ts';
import type { Refunds } from './oracle/refunds.ts';
import type { Returns } from './oracle/returns.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import { computeHash } from './payload-hash.ts';
import { requestFacts } from './service.ts';
import type { FaultProfile } from './fault-profile.ts';

export type Intake = typeof receiveProviderWebhook;

export interface WebhooksOptions {
  readonly processes: Processes;
  readonly intake: Intake;
  readonly names: Names;
  readonly evidence: Evidence;
  readonly receipts: Receipts;
  readonly refunds: Refunds;
  readonly returns: Returns;
  readonly expiries: Expiries;
  readonly disputes: Disputes;
  readonly policy: Policy;
  readonly scheduler: Scheduler;
  readonly profile: () => FaultProfile;
}

const firstRetryMs = 1_000;
const maxRetryMs = 60_000;

/** The number of old events that are posted again. */
const oldEvents = 4;

/** The bytes of an event and the state of their delivery. */
interface Parcel {
  readonly payload: Buffer<ArrayBuffer>;
  readonly delivery: Delivery;
}

/** A refund, expiry or dispute notice, its other forms, and the oracle that tracks it. */
interface Later<Written> {
  readonly notice: Written;
  readonly again: () => Written;
  readonly posted: { posted(notice: Written, hash: string): Delivery };
}

export class Webhooks {
  readonly owner: Owner = { name: 'webhook' };
  /** The number of undelivered events. */
  outstanding = 0;
  /** The posted notices, by the hash of their bytes. */
  readonly posted = new Map<string, Notice>();
  readonly #options: WebhooksOptions;
  readonly #parcels: Parcel[] = [];

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  /**
   * Posts a notice of a payment.
   * @returns a function that withdraws it while it is not delivered.
   */
  post(notice: Notice): { readonly cancel: () => void } {
    const { names, scheduler, policy } = this.#options;
    const { chance } = scheduler;
    const writeAgain = (): Parcel => {
      // The end-to-end id is unique; another customer may use the same key.
      const clientRequestId = chance.happens(0.5) ? notice.clientRequestId : null;
      const isSame = chance.happens(0.4);
      const other = { ...notice, clientRequestId };
      return this.#track(isSame ? notice : writeNotice(chance, other, policy.vocabulary));
    };
    const summary = `${notice.status} of ${names.of('E', notice.endToEnd)}`;
    return this.#post(summary, { parcel: () => this.#track(notice), writeAgain });
  }

  /** Posts a notice of a received PIX; `again` writes it in another form. */
  postReceived(notice: ReceivedNotice, again: () => ReceivedNotice): void {
    const { names, scheduler } = this.#options;
    const writeAgain = (): Parcel =>
      this.#trackReceived(scheduler.chance.happens(0.4) ? notice : again());
    const summary = `receipt of ${names.of('E', notice.receipt.endToEnd)}`;
    this.#post(summary, { parcel: () => this.#trackReceived(notice), writeAgain });
  }

  /** Posts a notice of a refund. */
  postRefund(notice: RefundNotice, again: () => RefundNotice): void {
    const { names, refunds } = this.#options;
    const summary = `refund of ${names.of('E', notice.refund.endToEnd)}`;
    this.#postLater(summary, { notice, again, posted: refunds });
  }

  /** Posts a notice of a return that has failed. */
  postReturnFailure(notice: RefundNotice, again: () => RefundNotice): void {
    const { names, returns } = this.#options;
    const summary = `failure of ${names.of('D', notice.refund.returnId)}`;
    this.#postLater(summary, { notice, again, posted: returns });
  }

  /** Posts a notice of an expired charge. */
  postExpiry(notice: ExpiryNotice, again: () => ExpiryNotice): void {
    const { expiries } = this.#options;
    this.#postLater(`expiry of ${notice.charge.bankId}`, { notice, again, posted: expiries });
  }

  /** Posts a notice of a dispute. */
  postDispute(notice: DisputeNotice, again: () => DisputeNotice): void {
    const { names, disputes } = this.#options;
    const summary = `dispute of ${names.of('E', notice.dispute.endToEnd)} ${notice.status}`;
    this.#postLater(summary, { notice, again, posted: disputes });
  }

  #postLater<Written extends { readonly payload: Parcel['payload'] }>(
    summary: string,
    { notice, again, posted }: Later<Written>,
  ): void {
    const { chance } = this.#options.scheduler;
    const track = (one: Written): Parcel =>
      this.#keep(one.payload, posted.posted(one, computeHash(one.payload)));
    const writeAgain = (): Parcel => track(chance.happens(0.4) ? notice : again());
    this.#post(summary, { parcel: () => track(notice), writeAgain });
  }

  #post(
    summary: string,
    { parcel, writeAgain }: { readonly parcel: () => Parcel; readonly writeAgain: () => Parcel },
  ): { readonly cancel: () => void } {
    const { scheduler, profile, policy } = this.#options;
    const { chance } = scheduler;
    // If the ERROR of a failed attempt may arrive late, the executed payment's event must arrive.
    const isLost = !policy.lateFailures && chance.happens(profile().lostNotices);
    if (policy.hookTries === 0 || isLost) {
      scheduler.note(`notice lost: ${summary}`);
      parcel().delivery.state = 'lost';
      return { cancel: () => undefined };
    }
    const first = parcel();
    const sent = [this.send(first.payload, summary, first.delivery)];
    while (chance.happens(profile().repeatedNotices)) {
      const { payload, delivery } = writeAgain();
      sent.push(this.send(payload, `${summary} again`, delivery));
    }
    return {
      cancel: () => {
        for (const { cancel } of sent) cancel();
      },
    };
  }

  /** Posts some old events again. */
  postOldAgain(): void {
    const { chance } = this.#options.scheduler;
    const taken = this.#parcels.filter(({ delivery }) => delivery.state === 'acknowledged');
    for (const { payload, delivery } of chance.shuffled(taken).slice(0, oldEvents)) {
      delivery.state = 'under_way';
      this.send(payload, 'an old event', delivery);
    }
  }

  /** @returns a function that withdraws it while it is not delivered. */
  send(
    payload: Buffer<ArrayBuffer>,
    summary: string,
    delivery: Delivery = begun(),
  ): { readonly cancel: () => void } {
    const { scheduler, profile } = this.#options;
    this.outstanding += 1;
    const delayMs = scheduler.chance.delayMs(profile().slowestNoticeMs);
    void this.#deliver({ payload, summary, delivery }, delayMs).then(() => {
      this.outstanding -= 1;
    });
    return {
      cancel: () => {
        if (delivery.state === 'under_way') delivery.state = 'lost';
      },
    };
  }

  /** Delivers an event at once, and at most once. */
  async sendOnce(payload: Buffer<ArrayBuffer>, summary: string): Promise<void> {
    const { scheduler, processes, intake } = this.#options;
    await scheduler.hop(this.owner, `webhook arrives: ${summary}`);
    const service = processes.pick();
    await service?.serve((context) => takeIn(context, intake, payload)).catch(() => undefined);
  }

  #track(notice: Notice): Parcel {
    this.posted.set(computeHash(notice.payload), notice);
    return this.#keep(notice.payload, this.#options.evidence.posted(notice));
  }

  #trackReceived(notice: ReceivedNotice): Parcel {
    const hash = computeHash(notice.payload);
    return this.#keep(notice.payload, this.#options.receipts.posted(notice, hash));
  }

  #keep(payload: Parcel['payload'], delivery: Delivery): Parcel {
    const parcel = { payload, delivery };
    this.#parcels.push(parcel);
    return parcel;
  }

  async #deliver(
    {
      payload,
      summary,
      delivery,
    }: { payload: Buffer<ArrayBuffer>; summary: string; delivery: Delivery },
    delayMs: number,
  ): Promise<void> {
    const { scheduler, processes, intake, policy } = this.#options;
    await scheduler.sleep(this.owner, delayMs);
    for (let tries = 1; delivery.state === 'under_way'; tries += 1) {
      await scheduler.hop(this.owner, `webhook arrives: ${summary}`);
      if (delivery.state !== 'under_way') return;
      const isTaken = await processes
        .pick()
        ?.serve((context) => takeIn(context, intake, payload))
        .then(
          () => true,
          // The event is posted again after any error.
          () => false,
        );
      if (isTaken) delivery.state = 'acknowledged';
      else if (tries >= policy.hookTries) {
        delivery.state = 'given_up';
        scheduler.note(`the provider gives up: ${summary}`);
        scheduler.count('notices given up');
      } else {
        await scheduler.sleep(this.owner, Math.min(maxRetryMs, firstRetryMs * 2 ** tries));
      }
    }
  }
}

function begun(): Delivery {
  return { state: 'under_way' };
}

async function takeIn(
  context: Context,
  intake: Intake,
  payload: Buffer<ArrayBuffer>,
): Promise<void> {
  const body = JSON.parse(payload.toString('utf8')) as ProviderEvent;
  const input = { path: {}, query: {}, headers: {}, body };
  await intake.run(context, { input, request: requestFacts(context, payload) });
}
