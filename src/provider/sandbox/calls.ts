/** What the sandbox was asked, and how it answered: nothing secret, and not for ever. */

/** One call of a provider's path. */
export interface RecordedCall {
  /** Counts from 1. */
  readonly nth: number;
  readonly at: string;
  readonly method: string;
  /** As fault rules name it: without the ids that stand in it. */
  readonly path: string;
  readonly requestId: string | null;
  readonly traceparent: string | null;
  readonly tracestate: string | null;
  /** The ids that its body carried. */
  readonly ids: Readonly<Record<string, string>>;
  /** What went wrong on purpose, such as `latency=200`. */
  readonly faults: readonly string[];
  /** What was answered; null as long as there is no answer, which may be for ever. */
  readonly status: number | null;
}

/** A call that is under way. */
export interface OpenCall {
  ids: Readonly<Record<string, string>>;
  status: number | null;
}

/** The oldest calls are forgotten first. */
const MAX_CALLS = 1_000;

/** The record of the calls. */
export class Calls {
  #calls: (Omit<RecordedCall, keyof OpenCall> & OpenCall)[] = [];
  #count = 0;

  /** Records a call; what becomes of it is written into the result. */
  begin(call: Omit<RecordedCall, 'nth' | keyof OpenCall>): OpenCall {
    this.#count += 1;
    const recorded = { nth: this.#count, ...call, ids: {}, status: null };
    this.#calls = [...this.#calls.slice(1 - MAX_CALLS), recorded];
    return recorded;
  }

  /** The calls, oldest first. */
  list(): RecordedCall[] {
    return this.#calls.map((call) => ({ ...call }));
  }

  /** Forgets them; the count goes on. */
  clear(): void {
    this.#calls = [];
  }
}

/** The ids of a body, for telling calls apart. */
export function idsOf(body: unknown): Record<string, string> {
  if (typeof body !== 'object' || body === null) return {};
  const names = ['endToEnd', 'clientRequestId', 'transactionIdentification'];
  return Object.fromEntries(
    Object.entries(body).filter(
      (field): field is [string, string] =>
        names.includes(field[0]) && typeof field[1] === 'string',
    ),
  );
}
