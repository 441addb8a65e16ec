/** A run: customers send the requests of a seed, and every response is checked. */
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { parseContract, readServedContract } from '../../src/app/contract-file.ts';
import { closedReplies } from '../../src/contract/closed-replies.ts';
import { loadContract, type OperationContract } from '../../src/contract/contract.ts';
import { Chance } from '../simulation/chance.ts';
import {
  serializeDraft,
  hash,
  legalDraft,
  type Customer,
  type Draft,
  type DraftOptions,
  type Json,
} from './drafts.ts';
import { Line, NoResponse, type RawResponse } from './line.ts';
import { mutate } from './mutations.ts';
import type { Options } from './options.ts';
import { Oracle } from './oracle.ts';
import { password, startFuzzed, type FuzzedService } from './service.ts';

export interface RunOptions extends Options {
  readonly print: (line: string) => void;
}

export interface Finding {
  /** The number of the request; null for a fault of several together. */
  readonly request: number | null;
  readonly what: string;
}

const laneCount = 4;

/** The requests between two checks of the event loop: fewer mean more checks and fewer suspects. */
const batch = 64;

const maxHeldMs = 20;

/** Repeats of a suspect alone; each must block the event loop too long. */
const trials = 3;

/** The growth allowed for caches, compiled code and uncollected objects. */
const maxGrowthMb = 8;

/** Each costs thirty milliseconds of CPU, and one finds as much as ten do. */
const rare = new Set(['login', 'logout', 'startOnboarding', 'registerPf']);

const emails = Array.from({ length: laneCount + 1 }, (_, nth) => `fuzz${nth}@example.com`);

/** The operations that create the first data of a customer: transactions, an application, a key. */
const firstOperations = [
  'login',
  'startOnboarding',
  'sendPix',
  'createCharge',
  'createPixKey',
] as const;

/** Runs the requests of a seed. */
export async function fuzz(options: RunOptions): Promise<Finding[]> {
  await using parts = new AsyncDisposableStack();
  const service = await startFuzzed(emails, parts);
  const { released } = options;
  const contract = released === undefined ? await readServed() : await readReleased(released);
  const run = new Run(options, service, contract);
  await run.prepare();
  if (options.only !== null) await run.show(options.only);
  else await run.all();
  run.findings.push(...(await service.audit()).map((what) => ({ request: null, what })));
  return run.findings;
}

interface ReadContract {
  readonly document: Json;
  readonly operations: readonly OperationContract[];
  /** Its clients ignore fields and headers that were added later. */
  readonly isReleased: boolean;
}

async function readServed(): Promise<ReadContract> {
  const { operations } = await readServedContract();
  const document = closedReplies((await parseContract()) as Json) as Json;
  return { document, operations, isReleased: false };
}

/** The codes of a failed creation of a Pix key, which was `PROVIDER_REJECTED` until 1.1.0. */
const laterCodes = ['PIX_KEY_LIMIT', 'PIX_KEY_TAKEN'];

/**
 * Reads a released contract as it is, with two exceptions that the changelog names: its responses
 * have `additionalProperties: false`, although its text says that fields may be added to them; and
 * a refused Pix key has a code of its own since 1.2.0.
 */
async function readReleased(path: string): Promise<ReadContract> {
  const text = await readFile(path, 'utf8');
  const document = parse(text, (key: unknown, value: unknown) => {
    if (key === 'additionalProperties' && value === false) return undefined;
    const isCodes = key === 'enum' && Array.isArray(value) && value.includes('PIX_KEY_NOT_FOUND');
    return isCodes ? [...value, ...laterCodes] : value;
  }) as Json;
  return { document, operations: loadContract(document, text).operations, isReleased: true };
}

interface Lane {
  readonly line: Line;
  readonly customer: Customer;
}

type Drawn = Pick<DraftOptions, 'chance' | 'nonce'>;

class Run {
  readonly findings: Finding[] = [];
  readonly #options: RunOptions;
  readonly #service: FuzzedService;
  readonly #contract: ReadContract;
  readonly #oracle: Oracle;
  readonly #lanes: readonly Lane[];
  readonly #statuses = new Map<string, number>();
  #judged = 0;

  constructor(options: RunOptions, service: FuzzedService, contract: ReadContract) {
    this.#options = options;
    this.#service = service;
    this.#contract = contract;
    this.#oracle = new Oracle(contract.document, contract);
    this.#lanes = emails.map((email) => ({
      line: new Line(service.port),
      customer: {
        email,
        password,
        token: '',
        transactions: [],
        endToEnds: [],
        applications: [],
        keys: [],
      },
    }));
  }

  /** Creates the data of each customer that later requests name. */
  async prepare(): Promise<void> {
    const { seed } = this.#options;
    const chance = new Chance(seed);
    for (const [nth, lane] of this.#lanes.entries()) {
      for (const id of firstOperations) {
        const operation = this.#contract.operations.find((one) => one.id === id);
        if (!operation) continue;
        let response: RawResponse | null = null;
        // The bank may fail for this key.
        for (let trial = 1; trial <= 5 && (response?.status ?? 500) >= 300; trial += 1) {
          const nonce = `first-${seed}-${nth}-${trial}`;
          response = await this.#send(lane, this.#legal(operation, lane, { chance, nonce }));
        }
        if ((response?.status ?? 500) >= 300) throw new Error(`${id}: ${response?.text}`);
      }
    }
  }

  async all(): Promise<void> {
    const { requests, print } = this.#options;
    const middle = Math.ceil(requests / 2);
    let middleMb = 0;
    for (let first = 1; first <= requests; first += batch) {
      const numbers = range(first, Math.min(requests, first + batch - 1));
      await this.#batch(numbers);
      if (first <= middle && middle < first + batch) middleMb = await this.#heapMb();
      if (Math.floor(first / 5_000) < Math.floor((first + batch) / 5_000)) print(this.progress());
    }
    const endMb = await this.#heapMb();
    print(`heap: ${middleMb.toFixed(1)} MB in the middle, ${endMb.toFixed(1)} MB at the end`);
    if (requests >= 10_000 && endMb - middleMb > maxGrowthMb) {
      this.#find(null, `the heap grew from ${middleMb.toFixed(1)} to ${endMb.toFixed(1)} MB`);
    }
    print(this.progress());
  }

  /** Sends one request as often as a suspect is repeated, and prints its bytes. */
  async show(k: number): Promise<void> {
    const { print } = this.#options;
    for (let trial = 0; trial < trials; trial += 1) {
      const { draft, lane } = this.#drawn(k, trial);
      print(`${draft.operation.id} ${draft.mutations.join(', ')} (${draft.ending})`);
      print(serializeDraft(draft).toString('latin1').slice(0, 4_000));
      const heldMs = await this.#held(() => this.#judge(k, lane, draft));
      print(`blocked the event loop for ${heldMs.toFixed(1)} ms`);
    }
  }

  progress(): string {
    const statuses = [...this.#statuses].sort(([a], [b]) => (a < b ? -1 : 1));
    const list = statuses.map(([status, count]) => `${status}: ${count}`).join(', ');
    return `${this.#judged} requests; ${list}; ${this.#service.executed.length} payments`;
  }

  async #batch(numbers: readonly number[]): Promise<void> {
    const heldMs = await this.#held(async () => {
      const lanes = this.#lanes.slice(0, laneCount).map(async (lane, nth) => {
        for (const k of numbers.filter((number) => number % laneCount === nth)) {
          await this.#judge(k, lane, this.#drawn(k).draft);
        }
      });
      await Promise.all(lanes);
    });
    if (heldMs <= maxHeldMs || !this.#service.isLoopItsOwn) return;
    for (const k of numbers) await this.#tryAlone(k);
  }

  async #tryAlone(k: number): Promise<void> {
    let minMs = Infinity;
    for (let trial = 1; trial <= trials && minMs > maxHeldMs; trial += 1) {
      const { draft, lane } = this.#drawn(k, trial);
      const heldMs = await this.#held(() => this.#send(lane, draft));
      minMs = Math.min(minMs, heldMs);
    }
    if (minMs > maxHeldMs) this.#find(k, `blocks the event loop for ${minMs.toFixed(1)} ms`);
  }

  async #held(work: () => Promise<unknown>): Promise<number> {
    const { server } = this.#service;
    server.watchEventLoop();
    await work();
    return server.maxDelayMs();
  }

  async #heapMb(): Promise<number> {
    return ((await this.#service.server.request('heap')) as { heapMb: number }).heapMb;
  }

  /** The request of a number; another trial has other keys. */
  #drawn(k: number, trial = 0): { draft: Draft; lane: Lane } {
    const { seed } = this.#options;
    const chance = new Chance(hash(`${seed} ${k}`));
    const lane = this.#lanes[k % laneCount];
    const stranger = this.#lanes[laneCount]?.customer;
    if (!lane || !stranger) throw new Error('no lane');
    const nonce = `f-${seed}-${k}-${trial}`;
    const draft = this.#legal(this.#operation(chance), lane, { chance, nonce });
    mutate(draft, { document: this.#contract.document, chance, stranger });
    return { draft, lane };
  }

  #operation(chance: Chance): OperationContract {
    const { operations } = this.#contract;
    const drawn = operations[chance.below(operations.length)];
    if (!drawn) throw new Error('no operation');
    return rare.has(drawn.id) && chance.happens(0.85) ? this.#operation(chance) : drawn;
  }

  #legal(operation: OperationContract, lane: Lane, drawn: Drawn): Draft {
    const { document } = this.#contract;
    return legalDraft({ document, operation, customer: lane.customer, ...drawn });
  }

  async #judge(k: number, lane: Lane, draft: Draft): Promise<void> {
    const { executed } = this.#service;
    const before = executed.length;
    const response = await this.#send(lane, draft).catch((error: unknown) => {
      if (!(error instanceof NoResponse)) throw error;
      this.#find(k, error.message);
      return null;
    });
    this.#judged += 1;
    const status = response ? `${Math.floor(response.status / 100)}xx` : 'none';
    this.#statuses.set(status, (this.#statuses.get(status) ?? 0) + 1);
    if (this.#options.only !== null)
      this.#options.print(JSON.stringify(response?.text)?.slice(0, 2_000));
    if (!response) {
      if (draft.ending === 'keep') this.#find(k, 'is not answered');
      return;
    }
    for (const what of this.#oracle.findFaults(draft, response)) this.#find(k, what, draft);
    const key = getKey(draft);
    const isRefused = response.status >= 400 && response.status < 500;
    const moved = executed.slice(before).filter(({ clientRequestId }) => clientRequestId === key);
    if (isRefused && moved.length > 0)
      this.#find(k, `${response.status}, but money has moved`, draft);
    if (moved.length > 1) this.#find(k, 'two payments of one key', draft);
    if (draft.operation.id === 'logout' && response.status === 200) await this.#logInAgain(lane);
  }

  async #send(lane: Lane, draft: Draft): Promise<RawResponse | null> {
    const { line, customer } = lane;
    const request = {
      bytes: serializeDraft(draft),
      ending: draft.ending,
      isHead: draft.method === 'HEAD',
    };
    const response = await line.request(request);
    if (response && response.status < 300) learn(customer, draft, response);
    return response;
  }

  /** The closed session may have been the stranger's. */
  async #logInAgain(own: Lane): Promise<void> {
    const login = this.#contract.operations.find(({ id }) => id === 'login');
    for (const lane of [own, ...this.#lanes.slice(laneCount)]) {
      if (login)
        await this.#send(lane, this.#legal(login, lane, { chance: new Chance(1), nonce: 'again' }));
    }
  }

  #find(request: number | null, what: string, draft?: Draft): void {
    const of = draft ? `${draft.operation.id} (${draft.mutations.join(', ')}): ` : '';
    this.findings.push({ request, what: `${of}${what}` });
  }
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function getKey({ headers }: Draft): string {
  const keys = headers.filter(([name]) => name.toLowerCase() === 'idempotency-key');
  return keys.map(([, value]) => value.trim()).join(', ');
}

const remembered = 6;

/** Remembers the data of a success that later requests can name. */
function learn(customer: Customer, { operation }: Draft, { text }: RawResponse): void {
  if (text === '') return;
  const body = JSON.parse(text) as Json;
  const keep = (list: string[], value: unknown): void => {
    if (typeof value === 'string') list.push(value);
    if (list.length > remembered) list.shift();
  };
  if (operation.id === 'login') customer.token = String(body['access_token']);
  keep(customer.transactions, body['transaction_id']);
  keep(customer.endToEnds, body['end_to_end']);
  if (operation.id === 'startOnboarding') keep(customer.applications, body['id']);
  keep(customer.applications, body['onboarding_id']);
  if (operation.id === 'createPixKey') keep(customer.keys, (body['data'] as Json)['key']);
}
