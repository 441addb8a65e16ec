/** One call at a time, which can be given up. */
import { useEffect, useRef, useState } from 'react';

export interface Call<Result> {
  readonly isBusy: boolean;
  readonly result: Result | null;
  /** Why there is no answer, in a sentence. */
  readonly failure: string | null;
  /** Starts the work; one that is under way is given up. */
  run(work: (signal: AbortSignal) => Promise<Result>): void;
  /** Gives up what is under way. The service may have done it all the same. */
  cancel(): void;
  /** Forgets how the last one ended. */
  clear(): void;
}

type CallState<Result> = Pick<Call<Result>, 'isBusy' | 'result' | 'failure'>;

const idle = { isBusy: false, result: null, failure: null };

export interface CallOptions {
  /** What came last stays until something new comes. */
  readonly isKept?: boolean;
  /** What is to be known when no answer has come, whatever the reason. */
  readonly warning?: string;
}

/** A call to the service, or to the operator's command, that belongs to a screen. */
export function useCall<Result>(options: CallOptions = {}): Call<Result> {
  const { isKept = false, warning } = options;
  const [state, setState] = useState<CallState<Result>>(idle);
  const current = useRef<AbortController | null>(null);
  useEffect(() => () => current.current?.abort(), []);
  const giveUp = (): void => {
    current.current?.abort();
    current.current = null;
  };
  return {
    ...state,
    run(work) {
      giveUp();
      const controller = new AbortController();
      current.current = controller;
      setState(({ result }) => ({ ...idle, isBusy: true, result: isKept ? result : null }));
      const end = (ended: Partial<CallState<Result>>): void => {
        if (current.current !== controller) return;
        current.current = null;
        setState(({ result }) => ({ ...idle, result: isKept ? result : null, ...ended }));
      };
      work(controller.signal).then(
        (result) => end({ result }),
        (error: unknown) => end({ failure: sentences(sentenceOf(error), warning) }),
      );
    },
    cancel() {
      giveUp();
      const failure = sentences('You gave up waiting.', warning);
      setState(({ result }) => ({ ...idle, result: isKept ? result : null, failure }));
    },
    clear() {
      giveUp();
      setState(idle);
    },
  };
}

function sentences(...said: readonly (string | undefined)[]): string {
  return said.filter((one) => one !== undefined).join(' ');
}

function sentenceOf(error: unknown): string {
  return error instanceof Error ? error.message : 'Something went wrong.';
}
