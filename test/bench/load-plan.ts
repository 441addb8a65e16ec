/** A load: the requests to repeat, and the result. */

export interface PlannedRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The placeholder in headers and bodies for a number that differs in each request. */
export const numberMark = '#'.repeat(11);

export interface LoadPlan {
  /** Sent in order; after the last, the first is sent again. */
  readonly requests: readonly PlannedRequest[];
  /** The numbers that replace {@link numberMark}; after the last, the first is used again. */
  readonly numbers: { readonly first: number; readonly last: number };
}

export interface Load {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  readonly plan: LoadPlan;
}

export interface LoadResult {
  /** The answered requests. */
  readonly requests: number;
  readonly seconds: number;
  /** Responses that are not 2xx, and requests without a response. */
  readonly failures: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}
