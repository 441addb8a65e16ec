/**
 * Mutations of the client of the contract, by which customers pay: see `mutations.ts`. That it
 * believes "nothing was sent" too early is noticed in `test/api/pix/app-client.test.ts` only: the
 * service gives that reply when an earlier request with the key would get it, too.
 */
import type { ClientOptions, StoredPayment } from '../../contract/client/index.ts';
import type { Fetch } from './app/network.ts';
import type { Deviation, Mutation } from './deviation.ts';

/** All customers pay by the client, whose storage is in order. */
const byClient = {
  apps: {
    share: 1,
    faults: { deaths: 0.02, fullDisks: 0, tabs: 0.3, refusedLogins: 0.1, proxies: 0.2 },
  },
} satisfies Deviation;

function changing(change: (options: ClientOptions) => Partial<ClientOptions>): Deviation {
  return { ...byClient, app: (options) => ({ ...options, ...change(options) }) };
}

function exchanging(change: (fetch: Fetch) => Fetch): Deviation {
  return changing(({ fetch = globalThis.fetch }) => ({ fetch: change(fetch) }));
}

/** Changes the list of payments before it is stored. */
function storing(change: (all: readonly StoredPayment[]) => readonly StoredPayment[]): Deviation {
  return changing(({ storage }) => {
    // The client reads back what it has written.
    let written: string | null = null;
    return {
      storage: {
        getItem(name) {
          const text = written ?? storage.getItem(name);
          written = null;
          return text;
        },
        async setItem(name, text) {
          await storage.setItem(name, JSON.stringify(change(JSON.parse(text) as StoredPayment[])));
          written = text;
        },
      },
    };
  });
}

const isSend = (url: string): boolean => url.endsWith('/pix/send');

const notPaid = (): Response =>
  Response.json({ message: 'No.' }, { status: 502, headers: { 'Pix-Outcome': 'not_sent' } });

/** Replaces responses to sends. */
function reading(change: (response: Response) => Response): Deviation {
  return exchanging((fetch) => async (url, init) => {
    const response = await fetch(url, init);
    return isSend(url) ? change(response) : response;
  });
}

/** The header with the key of a request. */
interface KeyHeader {
  readonly 'Idempotency-Key': string;
}

/** The oracle counts a key with `~` to the wish of the key before it. */
const newKeyAfterTimeOut = exchanging((fetch) => {
  const timeOuts = new Map<string, number>();
  return async (url, init) => {
    if (!isSend(url)) return fetch(url, init);
    const { 'Idempotency-Key': key } = init.headers as unknown as KeyHeader;
    const count = timeOuts.get(key) ?? 0;
    const headers = { ...init.headers, ...(count > 0 && { 'Idempotency-Key': `${key}~${count}` }) };
    try {
      return await fetch(url, { ...init, headers });
    } catch (error) {
      timeOuts.set(key, count + 1);
      throw error;
    }
  };
});

/** At a start, and after two minutes, the client sends what it should give up. */
const repeatsInstead = changing(({ fetch = globalThis.fetch, storage }) => ({
  fetch: async (url, init) => {
    if (!url.endsWith('/pix/send/cancel')) return fetch(url, init);
    const { 'Idempotency-Key': key } = init.headers as unknown as KeyHeader;
    const stored = JSON.parse((await storage.getItem('ponte.payments')) ?? '[]') as StoredPayment[];
    const body = JSON.stringify(stored.find((one) => one.key === key)?.request);
    return fetch(url.replace(/\/cancel$/, ''), { ...init, body });
  },
}));

const outcomeOf = ({ headers }: Response): string | null => headers.get('pix-outcome');

export const mutationsOfApps: readonly Mutation[] = [
  { name: 'the client repeats what it should give up', deviation: repeatsInstead },
  { name: 'the client takes a new key after a time-out', deviation: newKeyAfterTimeOut },
  {
    name: 'the client takes a time-out for a refusal',
    deviation: exchanging(
      (fetch) => (url, init) => (isSend(url) ? fetch(url, init).catch(notPaid) : fetch(url, init)),
    ),
  },
  {
    name: 'the client believes a 502 or 503 without an outcome',
    deviation: reading((response) =>
      response.status >= 502 && outcomeOf(response) === null ? notPaid() : response,
    ),
  },
  {
    name: 'the client takes a 503 of the service for a refusal',
    deviation: reading((response) => (response.status === 503 ? notPaid() : response)),
  },
  {
    name: 'the client takes a 401 for a refusal',
    deviation: reading((response) => (response.status === 401 ? notPaid() : response)),
  },
  {
    name: 'the client takes PROCESSING for paid',
    deviation: exchanging((fetch) => async (url, init) => {
      const response = await fetch(url, init);
      if (response.status !== 200) return response;
      const text = (await response.text()).replace('"PROCESSING"', '"COMPLETED"');
      return new Response(text, response);
    }),
  },
  {
    name: 'the client stores a payment only with its result',
    deviation: storing((all) => all.filter(({ result }) => result !== null)),
  },
  {
    name: 'the client forgets a payment when it is paid',
    deviation: storing((all) => all.filter(({ transactionId }) => transactionId === null)),
  },
  {
    name: 'two tabs of the client write without a lock',
    deviation: changing(() => ({ locks: { request: (_name, work) => work() } })),
  },
];
