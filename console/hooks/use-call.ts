/** One call at a time to the service or to the operator's command, which a person can give up. */
import { useEffect, useRef, useState } from 'react';

export interface Call<Result> {
  readonly isBusy: boolean;
  readonly result: Result | null;
  /** Why there is no result, in a sentence. */
  readonly failure: string | null;
  /** Starts the work, and aborts the work before it. */
  run(work: (signal: AbortSignal) => Promise<Result>): void;
  /** Stops waiting. The service may still do the work. */
  cancel(): void;
  /** Forgets the last result. */
  clear(): void;
}

export interface CallOptions {
  /** Keeps the last result until there is a new one. */
  readonly isKept?: boolean;
  /** The text for a person when there is no response, for any reason. */
  readonly warning?: string | undefined;
}

const idle = { isBusy: false, result: null, failure: null };

/** A call that ends with its screen. */
export function useCall<Result>({ isKept = false, warning }: CallOptions = {}): Call<Result> {
  const [state, setState] = useState<Pick<Call<Result>, 'isBusy' | 'result' | 'failure'>>(idle);
  const current = useRef<AbortController | null>(null);
  useEffect(() => () => current.current?.abort(), []);
  const begin = (controller: AbortController | null): void => {
    current.current?.abort();
    current.current = controller;
  };
  const change = (changed: Partial<typeof state>): void =>
    setState(({ result }) => ({ ...idle, result: isKept ? result : null, ...changed }));
  const fail = (message: string): void =>
    change({ failure: [message, warning].filter(Boolean).join(' ') });
  return {
    ...state,
    run(work) {
      const controller = new AbortController();
      begin(controller);
      change({ isBusy: true });
      const end = (report: () => void): void => {
        if (current.current !== controller) return;
        current.current = null;
        report();
      };
      work(controller.signal).then(
        (result) => end(() => change({ result })),
        (error: unknown) =>
          end(() => fail(error instanceof Error ? error.message : 'Something went wrong.')),
      );
    },
    cancel() {
      begin(null);
      fail('You gave up waiting.');
    },
    clear() {
      begin(null);
      setState(idle);
    },
  };
}

/** A call that starts with its screen, and again with `read`. */
export function useRead<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
): Call<Result> & { read(): void } {
  const call = useCall<Result>({ isKept: true });
  const read = (): void => call.run(work);
  useEffect(read, []);
  return { ...call, read };
}
