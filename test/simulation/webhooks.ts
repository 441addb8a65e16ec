/**
 * The bank's webhooks on their way: late, twice, in other words, out of order, lost; taken in by
 * whichever process lives, and posted again until one has them or the provider gives up.
 */
import type { ProviderEvent } from '../../contract/types.ts';
import type { Context } from '../../src/context.ts';
import type { receiveProviderWebhook } from '../../src/settlement/receive-provider-webhook.ts';
import type { ExpiryNotice, RefundNotice } from './bank/later-notices.ts';
import { writeNotice, type Notice } from './bank/notices.ts';
import type { Policy } from './bank/policy.ts';
import type { ReceivedNotice } from './bank/received-notices.ts';
import type { Delivery } from './delivery.ts';
import type { Processes } from './processes.ts';
import type { Names } from './names.ts';
import type { Evidence } from './oracle/evidence.ts';
import type { Expiries } from './oracle/expiries.ts';
import type { Receipts } from './oracle/receipts.ts';
import type { Refunds } from './oracle/refunds.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import { hashOf } from './payload-hash.ts';
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
  readonly expiries: Expiries;
  readonly policy: Policy;
  readonly scheduler: Scheduler;
  readonly profile: () => FaultProfile;
}

const firstRetryMs = 1_000;
const longestRetryMs = 60_000;

/** How many old events are posted once more. */
const oldEvents = 4;

/** Bytes to be delivered, and what follows them on their way. */
interface Parcel {
  readonly payload: Buffer<ArrayBuffer>;
  readonly delivery: Delivery;
}

/** A notice of its own kind, in other words, and who follows it on its way. */
interface Later<Written> {
  readonly notice: Written;
  readonly again: () => Written;
  readonly posted: { posted(notice: Written, hash: string): Delivery };
}

export class Webhooks {
  readonly owner: Owner = { name: 'webhook' };
  /** Events that are still to be taken in. */
  outstanding = 0;
  /** What the bank has posted, by the hash of its bytes. */
  readonly posted = new Map<string, Notice>();
  readonly #options: WebhooksOptions;
  readonly #parcels: Parcel[] = [];

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  /**
   * Takes a notice of the bank and sends it on its way.
   * @returns what takes it back, while nobody has it.
   */
  post(notice: Notice): { readonly cancel: () => void } {
    const { names, scheduler, policy } = this.#options;
    const { chance } = scheduler;
    const writeAgain = (): Parcel => {
      // The end-to-end id is one payment's; the key may be another customer's too.
      const clientRequestId = chance.happens(0.5) ? notice.clientRequestId : null;
      const isSame = chance.happens(0.4);
      const other = { ...notice, clientRequestId };
      return this.#track(isSame ? notice : writeNotice(chance, other, policy.vocabulary));
    };
    const word = `${notice.status} of ${names.of('E', notice.endToEnd)}`;
    return this.#post(word, { parcel: () => this.#track(notice), writeAgain });
  }

  /** The same for a PIX that has come in; `again` tells it in other words. */
  postReceived(notice: ReceivedNotice, again: () => ReceivedNotice): void {
    const { names, scheduler } = this.#options;
    const writeAgain = (): Parcel =>
      this.#trackReceived(scheduler.chance.happens(0.4) ? notice : again());
    const word = `receipt of ${names.of('E', notice.receipt.endToEnd)}`;
    this.#post(word, { parcel: () => this.#trackReceived(notice), writeAgain });
  }

  /** The same for a refund. */
  postRefund(notice: RefundNotice, again: () => RefundNotice): void {
    const { names, refunds } = this.#options;
    const word = `refund of ${names.of('E', notice.refund.endToEnd)}`;
    this.#postLater(word, { notice, again, posted: refunds });
  }

  /** The same for a charge that has expired. */
  postExpiry(notice: ExpiryNotice, again: () => ExpiryNotice): void {
    const { expiries } = this.#options;
    this.#postLater(`expiry of ${notice.charge.bankId}`, { notice, again, posted: expiries });
  }

  #postLater<Written extends { readonly payload: Parcel['payload'] }>(
    word: string,
    { notice, again, posted }: Later<Written>,
  ): void {
    const { chance } = this.#options.scheduler;
    const track = (one: Written): Parcel =>
      this.#keep(one.payload, posted.posted(one, hashOf(one.payload)));
    const writeAgain = (): Parcel => track(chance.happens(0.4) ? notice : again());
    this.#post(word, { parcel: () => track(notice), writeAgain });
  }

  #post(
    word: string,
    { parcel, writeAgain }: { readonly parcel: () => Parcel; readonly writeAgain: () => Parcel },
  ): { readonly cancel: () => void } {
    const { scheduler, profile, policy } = this.#options;
    const { chance } = scheduler;
    // Where failures of attempts may come late, the word that the payment was made comes too.
    const isLost = !policy.lateFailures && chance.happens(profile().lostNotices);
    if (policy.hookTries === 0 || isLost) {
      scheduler.note(`notice lost: ${word}`);
      parcel().delivery.state = 'lost';
      return { cancel: () => undefined };
    }
    const first = parcel();
    const sent = [this.send(first.payload, word, first.delivery)];
    while (chance.happens(profile().repeatedNotices)) {
      const { payload, delivery } = writeAgain();
      sent.push(this.send(payload, `${word} again`, delivery));
    }
    return {
      cancel: () => {
        for (const { cancel } of sent) cancel();
      },
    };
  }

  /** Posts some events again that the service has had for long. */
  postOldAgain(): void {
    const { chance } = this.#options.scheduler;
    const taken = this.#parcels.filter(({ delivery }) => delivery.state === 'acknowledged');
    for (const { payload, delivery } of chance.shuffled(taken).slice(0, oldEvents)) {
      delivery.state = 'under_way';
      this.send(payload, 'an old event', delivery);
    }
  }

  /** @returns what takes it back, while nobody has it. */
  send(
    payload: Buffer<ArrayBuffer>,
    word: string,
    delivery: Delivery = begun(),
  ): { readonly cancel: () => void } {
    const { scheduler, profile } = this.#options;
    this.outstanding += 1;
    const delayMs = scheduler.chance.delayMs(profile().slowestNoticeMs);
    void this.#deliver({ payload, word, delivery }, delayMs).then(() => {
      this.outstanding -= 1;
    });
    return {
      cancel: () => {
        if (delivery.state === 'under_way') delivery.state = 'lost';
      },
    };
  }

  #track(notice: Notice): Parcel {
    this.posted.set(hashOf(notice.payload), notice);
    return this.#keep(notice.payload, this.#options.evidence.posted(notice));
  }

  #trackReceived(notice: ReceivedNotice): Parcel {
    const hash = hashOf(notice.payload);
    return this.#keep(notice.payload, this.#options.receipts.posted(notice, hash));
  }

  #keep(payload: Parcel['payload'], delivery: Delivery): Parcel {
    const parcel = { payload, delivery };
    this.#parcels.push(parcel);
    return parcel;
  }

  async #deliver(
    { payload, word, delivery }: { payload: Buffer<ArrayBuffer>; word: string; delivery: Delivery },
    delayMs: number,
  ): Promise<void> {
    const { scheduler, processes, intake, policy } = this.#options;
    await scheduler.sleep(this.owner, delayMs);
    for (let tries = 1; delivery.state === 'under_way'; tries += 1) {
      await scheduler.hop(this.owner, `webhook arrives: ${word}`);
      if (delivery.state !== 'under_way') return;
      const isTaken = await processes
        .pick()
        ?.serve((context) => takeIn(context, intake, payload))
        .then(
          () => true,
          // Whatever kept it from being received, it is posted again.
          () => false,
        );
      if (isTaken) delivery.state = 'acknowledged';
      else if (tries >= policy.hookTries) {
        delivery.state = 'given_up';
        scheduler.note(`the provider gives up: ${word}`);
        scheduler.count('notices given up');
      } else {
        await scheduler.sleep(this.owner, Math.min(longestRetryMs, firstRetryMs * 2 ** tries));
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
