/** Composes the app of a customer with its network and the service. */
import type { SendPixRequest } from '../../../contract/types.ts';
import type { SendOperation } from '../sends.ts';
import type { Oracle } from '../oracle/oracle.ts';
import { makeName } from '../oracle/requests.ts';
import type { Processes } from '../processes.ts';
import { AppNetwork } from './network.ts';
import { AppService } from './app-service.ts';
import { PayingApp, type PayingAppOptions } from './paying-app.ts';

export interface MakeAppOptions extends Omit<PayingAppOptions, 'network' | 'violated'> {
  readonly processes: Processes;
  readonly oracle: Oracle;
  readonly send: SendOperation;
}

/** @returns the app of a customer, which is not started yet. */
export function makePayingApp(options: MakeAppOptions): PayingApp {
  const { customer, phone, scheduler, processes, oracle, intents, send, profile, faults } = options;
  const service = new AppService({
    customer,
    phone,
    oracle,
    send,
    refused: (key, requestedAt) => intents.refused(customer, key, requestedAt),
    keyWith: (transactionId) => {
      const own = [...oracle.transactions].find(
        ([name, id]) => id === transactionId && name.startsWith(makeName(customer, '')),
      );
      return own ? own[0].slice(makeName(customer, '').length) : null;
    },
  });
  const network = new AppNetwork({
    scheduler,
    processes,
    service,
    profile,
    faults,
    sends: (key, body) => {
      const { amount = 0, pix_key: pixKey = '', lookup_id: lookUpId } = body as SendPixRequest;
      oracle.requested(customer, key, Math.round(amount * 100));
      intents.sent(customer, key);
      const lookUp = oracle.lookUps.received.find(({ id }) => id === lookUpId);
      if (lookUp) oracle.lookUps.requested({ customer, key }, { lookUp, pixKey });
    },
    hasEnded: (sessionId) => phone.hasEnded(sessionId),
    servedAfterLogOut: () => oracle.servedAfterLogOut(customer),
  });
  return new PayingApp({ ...options, network, violated: (text) => oracle.violated(text) });
}
