/**
 * The provider of the reference servers: the same simulated bank as that of the service, in
 * process, without latency and behind the same HTTP client, so that its cost is the same for all.
 */
import { systemClock } from '../../../src/clock.ts';
import { createHttpClient } from '../../../src/provider/http/client.ts';
import { createHttpProvider } from '../../../src/provider/http/index.ts';
import type { Provider, ProviderSession } from '../../../src/provider/provider.ts';
import { Api } from '../../../src/provider/sandbox/api.ts';
import { createBank } from '../../../src/provider/sandbox/bank/bank.ts';
import { createDispatcher } from '../../../src/provider/sandbox/dispatcher.ts';
import { dialects } from '../../support/dialects.ts';

export type { Provider };

const ispb = '11165756';

/** Opens the bank. It reports no final status of a payment, and its state ends with the process. */
export function openProvider(): Provider {
  const notify = (): Promise<void> => Promise.resolve();
  const bank = createBank({ clock: systemClock, ispb, settleMs: 0, notify });
  const dispatcher = createDispatcher(new Api({ bank }));
  const client = createHttpClient({ baseUrl: 'http://bank.test', timeoutMs: 10_000, dispatcher });
  return createHttpProvider({ client, clock: systemClock, ispb, dialects });
}

/** The session of a token, which does not expire. */
export function makeSession(token: string): ProviderSession {
  return { userId: 0, token, currentToken: async () => token, expire: async () => {} };
}
