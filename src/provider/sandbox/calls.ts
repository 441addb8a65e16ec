/** The record of the sandbox's last calls, without secrets. */

/** One call of a provider's path. */
export interface RecordedCall {
  /** Counts from 1. */
  readonly nth: number;
  readonly at: string;
  readonly method: string;
  /** The name of fault rules, without ids. */
  readonly path: string;
  readonly requestId: string | null;
  readonly traceparent: string | null;
  readonly tracestate: string | null;
  /** The ids that its body carried. */
  readonly ids: Readonly<Record<string, string>>;
  /** The faults of the call, such as `latency=200`. */
  readonly faults: readonly string[];
  /** The status of the response; null while there is none. */
  readonly status: number | null;
}

/** A call in progress. */
export type OpenCall = { -readonly [Part in 'ids' | 'status']: RecordedCall[Part] };

/** The oldest calls are dropped first. */
const maxCalls = 1_000;

/** The record of the calls. */
export class Calls {
  #calls: RecordedCall[] = [];
  #count = 0;

  /** Records a call. @returns the record, which the caller completes. */
  begin(call: Omit<RecordedCall, 'nth' | keyof OpenCall>): OpenCall {
    this.#count += 1;
    const recorded = { nth: this.#count, ...call, ids: {}, status: null };
    this.#calls.push(recorded);
    if (this.#calls.length > maxCalls) this.#calls.shift();
    return recorded;
  }

  /** The calls, oldest first. */
  list(): RecordedCall[] {
    return this.#calls.map((call) => ({ ...call }));
  }

  /** Drops all calls; the count continues. */
  clear(): void {
    this.#calls = [];
  }
}

/** The ids in a body, which distinguish calls. */
export function readIds(body: unknown): Record<string, string> {
  if (typeof body !== 'object' || body === null) return {};
  const names = ['endToEnd', 'clientRequestId', 'transactionIdentification'];
  return Object.fromEntries(
    Object.entries(body).filter(
      (field): field is [string, string] =>
        names.includes(field[0]) && typeof field[1] === 'string',
    ),
  );
}
