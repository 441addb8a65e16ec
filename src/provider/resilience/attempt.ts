/**
 * One attempt of a provider call: it always ends, in time, with an answer or a
 * {@link ProviderError}. The time-out is ours and not cockatiel's, because cockatiel reads the
 * machine's clock and tests own the time.
 */
import type { Clock } from '../../clock.ts';
import { notUnderstood, ProviderError } from '../errors.ts';
import type { PaymentOrder, PaymentReceipt } from '../provider.ts';

/**
 * How long an aborted attempt may take to report whether bytes had left. A client that does not end
 * by then is left behind.
 */
const ABORT_GRACE_MS = 100;

export interface AttemptOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** The caller's own signal, for calls that a caller may abort. */
  readonly caller: AbortSignal | undefined;
  /** Receives a thrown value that is no ProviderError: a defect of the provider layer. */
  readonly onDefect: (thrown: unknown) => void;
}

/**
 * The attempt ended on our side: its caller has gone, a document could not be read, or it may not
 * leave any more. It says nothing about the provider, so no breaker counts it.
 */
export class Abandoned extends Error {
  readonly error: ProviderError;

  constructor(error: ProviderError) {
    super('the attempt ended on our side', { cause: error });
    this.name = 'Abandoned';
    this.error = error;
  }
}

/**
 * Runs one attempt under its time-out.
 *
 * @returns the provider's answer, or the error as a value: the breaker counts answers.
 * @throws Abandoned when it ended on our side.
 */
export async function makeAttempt<Answer>(
  invoke: (signal: AbortSignal) => Promise<Answer>,
  options: AttemptOptions,
): Promise<Answer | ProviderError> {
  const { clock, caller } = options;
  const controller = new AbortController();
  const ended = Promise.withResolvers<Settled<Answer>>();
  const timers: (() => void)[] = [];
  const abort = (reason: unknown): void => {
    if (controller.signal.aborted) return;
    timers.push(clock.after(ABORT_GRACE_MS, () => ended.resolve({ thrown: reason })));
    controller.abort(reason);
  };
  const onCallerGone = (): void => abort(caller?.reason);
  timers.push(clock.after(options.timeoutMs, () => abort(timeoutReason())));
  caller?.addEventListener('abort', onCallerGone, { once: true });
  try {
    Promise.try(invoke, controller.signal).then(
      (answer) => ended.resolve({ answer }),
      (thrown: unknown) => ended.resolve({ thrown }),
    );
    const settled = await ended.promise;
    if ('answer' in settled) return settled.answer;
    const error = readError(settled.thrown, controller.signal, options.onDefect);
    const isOurs = isCallersAbort(controller.signal, caller) || error.statusClass === 'unreadable';
    if (isOurs) throw new Abandoned(error);
    return error;
  } finally {
    for (const cancel of timers) cancel();
    caller?.removeEventListener('abort', onCallerGone);
  }
}

function timeoutReason(): DOMException {
  return new DOMException('The provider did not answer in time.', 'TimeoutError');
}

type Settled<Answer> = { readonly answer: Answer } | { readonly thrown: unknown };

function readError(
  thrown: unknown,
  signal: AbortSignal,
  onDefect: AttemptOptions['onDefect'],
): ProviderError {
  if (thrown instanceof ProviderError) return thrown;
  if (signal.aborted) return timedOut(thrown);
  onDefect(thrown);
  return notUnderstood(thrown);
}

function isCallersAbort(signal: AbortSignal, caller: AbortSignal | undefined): boolean {
  return signal.aborted && caller?.aborted === true && signal.reason === caller.reason;
}

/** Bytes may have left: a time-out never proves that nothing was done. */
function timedOut(cause: unknown): ProviderError {
  return new ProviderError({
    outcome: 'unknown',
    code: 'PROVIDER_TIMEOUT',
    statusClass: 'timeout',
    retryable: true,
    cause,
  });
}

/**
 * Compares a receipt with its order. A receipt with other ids belongs to another payment: it proves
 * neither that ours was made nor that it was not.
 *
 * @throws ProviderError `unknown` when an id differs.
 */
export function checkReceipt(order: PaymentOrder, receipt: PaymentReceipt): PaymentReceipt {
  const isOurs =
    receipt.endToEnd === order.endToEnd && receipt.clientRequestId === order.clientRequestId;
  if (!isOurs) throw notUnderstood(new Error('the receipt carries the ids of another payment'));
  return receipt;
}
