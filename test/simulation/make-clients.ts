/** Draws the customers of a history, and makes their phones and apps. */
import { sendPix } from '../../src/pix/send-pix.ts';
import type { AppFaults, Apps } from './app/app-faults.ts';
import { makePayingApp } from './app/make-app.ts';
import { Chance } from './chance.ts';
import { Client, type ClientOptions } from './clients.ts';
import type { Deviation } from './deviation.ts';
import { drawLimitChanges } from './limits.ts';
import { drawConfirmations } from './look-up-client.ts';
import type { Intents } from './oracle/intents.ts';
import { drawReturns } from './return-client.ts';

type Shared =
  | 'customers'
  | 'processes'
  | 'oracle'
  | 'charges'
  | 'scheduler'
  | 'profile'
  | 'codesToPay'
  | 'disputes'
  | 'store';

export interface MakeClientsOptions extends Pick<ClientOptions, Shared | 'otherChannels'> {
  readonly seed: number;
  readonly chance: Chance;
  readonly deviation: Deviation;
  readonly intents: Intents;
  readonly apps: Apps;
  readonly appFaults: () => AppFaults;
  /** How often each customer disputes a payment. */
  readonly disputeTimes: readonly number[];
}

export function makeClients(options: MakeClientsOptions): Client[] {
  const { seed, chance, deviation, intents, apps, appFaults: faults, ...others } = options;
  const { disputeTimes, ...shared } = others;
  const count = chance.pick([1, 1, 2, 3]);
  const sharesKeys = chance.happens(0.3);
  const confirmations = drawConfirmations(seed);
  const returns = drawReturns(seed);
  const { send = sendPix, leftOut = new Set(), app: change = (one) => one } = deviation;
  const { lookUps } = shared.oracle;
  // A separate random sequence, so that the others draw as before.
  const ofApps = new Chance(seed + 4);
  return shared.customers.slice(0, count).map((customer, place) => {
    const app: ClientOptions['app'] = (phone) =>
      makePayingApp({ ...shared, customer, phone, intents, send, change, faults });
    return new Client({
      ...shared,
      customer,
      limitChanges: drawLimitChanges(seed, place),
      returns: returns[place] ?? 0,
      disputeTimes: disputeTimes[place] ?? 0,
      send,
      sharesKeys,
      leftOut,
      lookUps,
      confirmations,
      app: ofApps.happens(apps.share) ? app : null,
    });
  });
}
