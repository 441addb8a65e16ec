/**
 * The bank's webhooks on their way: late, twice, in other words, out of order, lost; taken in by
 * whichever process lives, and posted again until one has them or the provider gives up.
 */
import { createHash } from 'node:crypto';
import type { ProviderEvent } from '../../contract/types.ts';
import type { Context } from '../../src/context.ts';
import type { receiveProviderWebhook } from '../../src/operations/webhooks/receive-provider-webhook.ts';
import { writeNotice, type Notice } from './bank/notices.ts';
import type { Policy } from './bank/policy.ts';
import type { Fleet } from './fleet.ts';
import type { Names } from './names.ts';
import type { Evidence } from './oracle/evidence.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import { requestFacts } from './service.ts';
import type { Weather } from './weather.ts';

export type Intake = typeof receiveProviderWebhook;

export interface WebhooksOptions {
  readonly fleet: Fleet;
  readonly intake: Intake;
  readonly names: Names;
  readonly evidence: Evidence;
  readonly policy: Policy;
  readonly scheduler: Scheduler;
  readonly weather: () => Weather;
}

const firstRetryMs = 1_000;
const longestRetryMs = 60_000;

/** What becomes of a delivery, for whoever keeps count. */
interface Delivery {
  state: 'under_way' | 'acknowledged' | 'given_up' | 'lost';
}

export class Webhooks {
  readonly owner: Owner = { name: 'webhook' };
  /** Events that are still to be taken in. */
  outstanding = 0;
  /** What the bank has posted, by the hash of its bytes. */
  readonly posted = new Map<string, Notice>();
  readonly #options: WebhooksOptions;

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  /**
   * Takes a notice of the bank and sends it on its way.
   * @returns what takes it back, while nobody has it.
   */
  post(notice: Notice): { readonly cancel: () => void } {
    const { names, scheduler, weather, policy } = this.#options;
    const { chance } = scheduler;
    const word = `${notice.status} of ${names.of('E', notice.endToEnd)}`;
    const isLost = !policy.lateFailures && chance.happens(weather().lostNotices);
    if (policy.hookTries === 0 || isLost) {
      scheduler.note(`notice lost: ${word}`);
      this.#track(notice).state = 'lost';
      return { cancel: () => undefined };
    }
    const sent = [this.send(notice.payload, word, this.#track(notice))];
    while (chance.happens(weather().repeatedNotices)) {
      // The end-to-end id is one payment's; the key may be another customer's too.
      const clientRequestId = chance.happens(0.5) ? notice.clientRequestId : null;
      const isSame = chance.happens(0.4);
      const other = { ...notice, clientRequestId };
      const copy = isSame ? notice : writeNotice(chance, other, policy.vocabulary);
      sent.push(this.send(copy.payload, `${word} again`, this.#track(copy)));
    }
    return {
      cancel: () => {
        for (const { cancel } of sent) cancel();
      },
    };
  }

  /** @returns what takes it back, while nobody has it. */
  send(
    payload: Buffer<ArrayBuffer>,
    word: string,
    delivery: Delivery = begun(),
  ): { readonly cancel: () => void } {
    const { scheduler, weather } = this.#options;
    this.outstanding += 1;
    const delayMs = scheduler.chance.delayMs(weather().slowestNoticeMs);
    void this.#deliver({ payload, word, delivery }, delayMs).then(() => {
      this.outstanding -= 1;
    });
    return {
      cancel: () => {
        if (delivery.state === 'under_way') delivery.state = 'lost';
      },
    };
  }

  #track(notice: Notice): Delivery {
    this.posted.set(hashOf(notice.payload), notice);
    return this.#options.evidence.posted(notice);
  }

  async #deliver(
    { payload, word, delivery }: { payload: Buffer<ArrayBuffer>; word: string; delivery: Delivery },
    delayMs: number,
  ): Promise<void> {
    const { scheduler, fleet, intake, policy } = this.#options;
    await scheduler.sleep(this.owner, delayMs);
    for (let tries = 1; delivery.state === 'under_way'; tries += 1) {
      await scheduler.hop(this.owner, `webhook arrives: ${word}`);
      if (delivery.state !== 'under_way') return;
      const isTaken = await fleet
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

/** Names an event as the service does: by its bytes. */
export function hashOf(payload: Buffer): string {
  return createHash('sha256').update(payload).digest('hex');
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
