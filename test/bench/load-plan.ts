/** Load: what is asked, over and over, and what came of it. */

export interface PlannedRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Stands in headers and bodies for a number that is another one in each request. */
export const numberMark = '#'.repeat(11);

export interface LoadPlan {
  /** Sent one after the other, from the beginning again after the last. */
  readonly requests: readonly PlannedRequest[];
  /** The numbers that {@link numberMark} stands for; after the last the first comes again. */
  readonly numbers: { readonly first: number; readonly last: number };
}

export interface Load {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  readonly plan: LoadPlan;
}

export interface LoadResult {
  /** Those that were answered. */
  readonly requests: number;
  readonly seconds: number;
  /** Answers that are not 2xx, and requests without an answer. */
  readonly failures: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}
