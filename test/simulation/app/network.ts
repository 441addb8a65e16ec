/**
 * The network between the client of the contract and the service: requests and responses are lost,
 * late or broken, and proxies answer in place of the service.
 */
import type { ClientOptions } from '../../../contract/client/index.ts';
import type { FaultProfile } from '../fault-profile.ts';
import type { Processes } from '../processes.ts';
import type { Owner, Scheduler } from '../scheduler.ts';
import type { AppFaults } from './app-faults.ts';
import { sessionIn, type AppService, type WireRequest, type WireResponse } from './app-service.ts';

export type Fetch = NonNullable<ClientOptions['fetch']>;

export interface AppNetworkOptions {
  readonly scheduler: Scheduler;
  readonly processes: Processes;
  readonly service: AppService;
  readonly profile: () => FaultProfile;
  readonly faults: () => AppFaults;
  /** Called when a request for a payment leaves the device. */
  readonly sends: (key: string, body: unknown) => void;
  /** Whether the app knows that a session has ended. */
  readonly hasEnded: (sessionId: string) => boolean;
  readonly servedAfterLogOut: () => void;
}

/** The client relies on it: no request arrives later than this. */
const maxTravelMs = 10 * 60_000;

/** The id of a transaction, which differs between runs of a seed. */
const uuid = /[0-9a-f-]{36}/;

/** What becomes of a message. */
type Fate = 'arrives' | 'is lost' | 'is reset' | 'meets a proxy';

export class AppNetwork {
  readonly #options: AppNetworkOptions;
  /** Requests travel on when the app that has sent them dies. */
  readonly #owner: Owner = { name: 'network' };

  constructor(options: AppNetworkOptions) {
    this.#options = options;
  }

  /** @returns the `fetch` of a tab. */
  fetchOf(tab: Owner): Fetch {
    return (url, init) => {
      const { promise, resolve, reject } = Promise.withResolvers<Response>();
      const abort = (): void => reject(new DOMException('The request was aborted.', 'AbortError'));
      init.signal?.addEventListener('abort', abort);
      this.#exchange(tab, this.#requestOf(url, init)).then(resolve, reject);
      return promise;
    };
  }

  #requestOf(url: string, { method = '', headers, body }: RequestInit): WireRequest {
    const request: WireRequest = {
      method,
      path: new URL(url).pathname.replace(/^\/api\/v1/, ''),
      headers: headers as Record<string, string>,
      body: typeof body === 'string' ? JSON.parse(body) : undefined,
      sentAt: this.#options.scheduler.taken,
    };
    const key = request.headers['Idempotency-Key'];
    if (key !== undefined && !isCancel(request)) this.#options.sends(key, request.body);
    return request;
  }

  async #exchange(tab: Owner, request: WireRequest): Promise<Response> {
    const { scheduler } = this.#options;
    const what = request.headers['Idempotency-Key'] ?? request.path.replace(uuid, 'transaction');
    const label = `${tab.name}: ${isCancel(request) ? 'gives up' : request.method} ${what}`;
    const sentAtMs = scheduler.nowMs;
    await scheduler.hop(this.#owner, `${label} is on its way`);
    const isOld = scheduler.nowMs - sentAtMs > maxTravelMs;
    const there = await this.#meet(isOld ? 'is lost' : this.#fate(), `${label}, the request`);
    const response = there === 'arrives' ? await this.#serve(request, label) : there;
    // A dead tab hears nothing: this step is removed.
    await scheduler.hop(tab, `${label} is answered ${describe(response)}`);
    const back = await this.#meet(this.#fate(), `${label}, the response`);
    const received = back === 'arrives' ? response : back;
    if (received === 'reset') throw new TypeError('connection reset');
    return new Response(received.text, received);
  }

  /** Passes a request to a process; a proxy answers when there is none, or when it dies. */
  async #serve(request: WireRequest, label: string): Promise<WireResponse> {
    const { scheduler, processes, service, hasEnded, servedAfterLogOut } = this.#options;
    const server = processes.pick();
    if (!server) return fromProxy(scheduler.chance.pick(proxyStatuses));
    scheduler.note(`${label} reaches ${server.name}`);
    const isEnded = hasEnded(sessionIn(request.headers));
    const response = await server
      .serve((context) => service.serve(context, request))
      .catch(() => null);
    const isServed = response?.status === 200 && request.path !== '/auth/login';
    if (isEnded && isServed) servedAfterLogOut();
    return response ?? fromProxy(scheduler.chance.pick(proxyStatuses));
  }

  #fate(): Fate {
    const { scheduler, profile, faults } = this.#options;
    const { chance } = scheduler;
    if (chance.happens(faults().proxies / 2)) return 'meets a proxy';
    if (!chance.happens(profile().lostMessages / 2)) return 'arrives';
    return chance.pick(['is lost', 'is reset']);
  }

  /** @returns what the client gets instead of the message; nothing, for ever, if it is lost. */
  async #meet(fate: Fate, label: string): Promise<WireResponse | 'reset' | 'arrives'> {
    const { scheduler } = this.#options;
    if (fate === 'arrives') return fate;
    scheduler.count(`app: a message ${fate}`);
    scheduler.note(`${label} ${fate}`);
    if (fate === 'is lost') return new Promise(() => undefined);
    return fate === 'is reset' ? 'reset' : fromProxy(scheduler.chance.pick(proxyStatuses));
  }
}

function isCancel({ path }: WireRequest): boolean {
  return path.endsWith('/cancel');
}

const proxyStatuses = [502, 503, 504, 429, 401, 200] as const;

/** A proxy knows nothing of the service: its response has no `Pix-Outcome`, and is no JSON. */
function fromProxy(status: number): WireResponse {
  return { status, headers: { 'Retry-After': '1' }, text: '<h1>proxy</h1>' };
}

function describe(response: WireResponse | 'reset'): string {
  if (response === 'reset') return 'by a reset';
  return [response.status, response.headers['Pix-Outcome']].filter(Boolean).join(' ');
}
