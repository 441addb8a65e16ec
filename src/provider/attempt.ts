/**
 * One attempt of a provider call: it always ends, in time, and with a verdict. Whatever is thrown
 * becomes a {@link ProviderError} here, so that the layers around deal in nothing else.
 */
import type { Clock } from '../clock.ts';
import { notUnderstood, ProviderError } from './outcome.ts';
import type { PaymentOrder, PaymentReceipt } from './provider.ts';

/**
 * How long an aborted attempt may take to say how far it had come. The client knows whether bytes
 * had left, which is worth this wait; a client that hangs all the same is left behind.
 */
const ABORT_GRACE_MS = 100;

export interface AttemptOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** The caller's own signal, for the calls that a caller may abort. */
  readonly caller: AbortSignal | undefined;
  /** Is told of what was thrown that should not have been: a fault of the provider layer. */
  readonly onDefect: (thrown: unknown) => void;
}

/**
 * The attempt ended on our side, because its caller has gone or a document could not be read: it
 * says nothing about the provider.
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
 * @returns what the provider answered, or the error as a value: the breaker counts answers.
 * @throws Abandoned when it ended on our side.
 */
export async function makeAttempt(
  invoke: (signal: AbortSignal) => Promise<unknown>,
  options: AttemptOptions,
): Promise<unknown> {
  const { clock, caller } = options;
  const controller = new AbortController();
  const ended = Promise.withResolvers<Settled>();
  const timers: (() => void)[] = [];
  const abort = (reason: unknown): void => {
    if (controller.signal.aborted) return;
    timers.push(clock.after(ABORT_GRACE_MS, () => ended.resolve({ thrown: reason })));
    controller.abort(reason);
  };
  const onCallerGone = (): void => abort(caller?.reason);
  timers.push(clock.after(options.timeoutMs, () => abort(tooLate())));
  caller?.addEventListener('abort', onCallerGone, { once: true });
  try {
    Promise.try(invoke, controller.signal).then(
      (value) => ended.resolve({ value }),
      (thrown: unknown) => ended.resolve({ thrown }),
    );
    const verdict = verdictOf(await ended.promise, controller.signal, options.onDefect);
    if (!(verdict instanceof ProviderError)) return verdict;
    const isOurs =
      isCallersAbort(controller.signal, caller) || verdict.statusClass === 'unreadable';
    if (isOurs) throw new Abandoned(verdict);
    return verdict;
  } finally {
    for (const cancel of timers) cancel();
    caller?.removeEventListener('abort', onCallerGone);
  }
}

function tooLate(): DOMException {
  return new DOMException('The provider did not answer in time.', 'TimeoutError');
}

/** What came of it, so that what was thrown is a value too. */
type Settled = { readonly value: unknown } | { readonly thrown: unknown };

function verdictOf(
  settled: Settled,
  signal: AbortSignal,
  onDefect: AttemptOptions['onDefect'],
): unknown {
  if ('value' in settled) return settled.value;
  if (settled.thrown instanceof ProviderError) return settled.thrown;
  if (signal.aborted) return timedOut(settled.thrown);
  onDefect(settled.thrown);
  return notUnderstood(settled.thrown);
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
 * Holds a receipt against its order. A receipt that carries other ids is somebody else's: it says
 * neither that our payment was made nor that it was not.
 *
 * @throws ProviderError `unknown` when an id is not ours.
 */
export function checkReceipt(order: PaymentOrder, receipt: PaymentReceipt): PaymentReceipt {
  const isOurs =
    receipt.endToEnd === order.endToEnd && receipt.clientRequestId === order.clientRequestId;
  if (!isOurs) throw notUnderstood(new Error('the receipt carries ids that are not ours'));
  return receipt;
}
