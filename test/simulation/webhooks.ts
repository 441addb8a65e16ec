/**
 * The bank's webhooks on their way: late, twice, in other words, out of order, lost; taken in by
 * whichever process lives, and posted again until one has them.
 */
import type { ProviderEvent } from '../../contract/types.ts';
import type { Context } from '../../src/context.ts';
import type { receiveProviderWebhook } from '../../src/operations/webhooks/receive-provider-webhook.ts';
import { readNotice, writeEvent } from './events.ts';
import type { Fleet } from './fleet.ts';
import type { Names } from './names.ts';
import type { Owner, Scheduler } from './scheduler.ts';
import { requestFacts } from './service.ts';
import type { Weather } from './weather.ts';

export type Intake = typeof receiveProviderWebhook;

export interface WebhooksOptions {
  readonly fleet: Fleet;
  readonly intake: Intake;
  readonly names: Names;
  readonly scheduler: Scheduler;
  readonly weather: () => Weather;
}

const firstRetryMs = 1_000;
const longestRetryMs = 60_000;

export class Webhooks {
  readonly owner: Owner = { name: 'webhook' };
  /** Events that are still to be taken in. */
  outstanding = 0;
  /** The end-to-end ids of the payments whose end the service has been told, and acknowledged. */
  readonly acknowledged = new Set<string>();
  readonly #options: WebhooksOptions;

  constructor(options: WebhooksOptions) {
    this.#options = options;
  }

  /** Takes a true notice of the bank and sends it on its way. */
  post(payload: Buffer<ArrayBuffer>): void {
    const { names, scheduler, weather } = this.#options;
    const { chance } = scheduler;
    const facts = readNotice(payload);
    const word = `${facts.status} of ${names.of('E', facts.endToEnd)}`;
    if (chance.happens(weather().lostNotices)) return scheduler.note(`notice lost: ${word}`);
    this.send(payload, word, facts.endToEnd);
    while (chance.happens(weather().repeatedNotices)) {
      // The end-to-end id is one payment's; the key may be another customer's too.
      const withoutKey = { ...facts, clientRequestId: null };
      const told = chance.happens(0.5) ? facts : withoutKey;
      const copy = chance.happens(0.4) ? payload : writeEvent(chance, told);
      this.send(copy, `${word} again`);
    }
  }

  /** @param endToEnd of the payment whose end a true notice tells. */
  send(payload: Buffer<ArrayBuffer>, word: string, endToEnd?: string): void {
    const { scheduler, weather } = this.#options;
    this.outstanding += 1;
    void this.#deliver(payload, word, scheduler.chance.delayMs(weather().slowestNoticeMs)).then(
      () => {
        this.outstanding -= 1;
        if (endToEnd !== undefined) this.acknowledged.add(endToEnd);
      },
    );
  }

  async #deliver(payload: Buffer<ArrayBuffer>, word: string, delayMs: number): Promise<void> {
    const { scheduler, fleet, intake } = this.#options;
    await scheduler.sleep(this.owner, delayMs);
    for (let tries = 0; ; tries += 1) {
      await scheduler.hop(this.owner, `webhook arrives: ${word}`);
      const process = fleet.pick();
      const isTaken = await process
        ?.serve((context) => takeIn(context, intake, payload))
        .then(
          () => true,
          // Whatever kept it from being received, it is posted again.
          () => false,
        );
      if (isTaken) return;
      await scheduler.sleep(this.owner, Math.min(longestRetryMs, firstRetryMs * 2 ** tries));
    }
  }
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
