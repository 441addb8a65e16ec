/**
 * One attempt of a provider call. It always ends in time, with a response or a {@link
 * ProviderError}. It has its own time-out because cockatiel's uses the system clock, which tests
 * cannot control.
 */
import type { Clock } from '../../clock.ts';
import { notSent, notUnderstood, ProviderError, timedOut } from '../errors.ts';
import type { PaymentOrder, PaymentReceipt, PersonDocument } from '../provider.ts';

/**
 * How long an aborted attempt may take to report whether bytes were sent, before it is abandoned.
 */
const abortGraceMs = 100;

interface AttemptOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  /** The caller's own signal, for calls that a caller may abort. */
  readonly caller: AbortSignal | undefined;
  /** Receives a thrown value that is not a ProviderError: a defect of the provider layer. */
  readonly onDefect: (thrown: unknown) => void;
}

/**
 * The attempt ended on the service's side: the caller disconnected, a document could not be read,
 * or the attempt may no longer be sent. It proves nothing about the provider, so no breaker counts
 * it.
 */
export class Abandoned extends Error {
  readonly error: ProviderError;

  constructor(error: ProviderError) {
    super('the attempt ended on the side of the service', { cause: error });
    this.name = 'Abandoned';
    this.error = error;
  }
}

/**
 * Runs one attempt under its time-out.
 *
 * @returns the provider's response, or the error as a value, because the breaker counts results.
 * @throws Abandoned when it ended on the service's side.
 */
export async function makeAttempt<Response>(
  invoke: (signal: AbortSignal) => Promise<Response>,
  options: AttemptOptions,
): Promise<Response | ProviderError> {
  const { clock, caller } = options;
  const controller = new AbortController();
  const ended = Promise.withResolvers<Settled<Response>>();
  const timers: (() => void)[] = [];
  const abort = (reason: unknown): void => {
    if (controller.signal.aborted) return;
    timers.push(clock.after(abortGraceMs, () => ended.resolve({ thrown: reason })));
    controller.abort(reason);
  };
  const onCallerAbort = (): void => abort(caller?.reason);
  timers.push(clock.after(options.timeoutMs, () => abort(timeoutReason())));
  caller?.addEventListener('abort', onCallerAbort, { once: true });
  try {
    Promise.try(invoke, controller.signal).then(
      (response) => ended.resolve({ response }),
      (thrown: unknown) => ended.resolve({ thrown }),
    );
    const settled = await ended.promise;
    if ('response' in settled) return settled.response;
    const error = readError(settled.thrown, controller.signal, options.onDefect);
    const isAbandoned = isCallersAbort(controller.signal, caller);
    if (isAbandoned || error.statusClass === 'unreadable') throw new Abandoned(error);
    return error;
  } finally {
    for (const cancel of timers) cancel();
    caller?.removeEventListener('abort', onCallerAbort);
  }
}

function timeoutReason(): DOMException {
  return new DOMException('The provider did not answer in time.', 'TimeoutError');
}

type Settled<Response> = { readonly response: Response } | { readonly thrown: unknown };

function readError(
  thrown: unknown,
  signal: AbortSignal,
  onDefect: AttemptOptions['onDefect'],
): ProviderError {
  if (thrown instanceof ProviderError) return thrown;
  // Bytes may have been sent.
  if (signal.aborted) return timedOut('unknown', thrown);
  onDefect(thrown);
  return notUnderstood(thrown);
}

function isCallersAbort(signal: AbortSignal, caller: AbortSignal | undefined): boolean {
  return signal.aborted && caller?.aborted === true && signal.reason === caller.reason;
}

/** The ids of an order: for a return its return id and the client's. */
type OrderIds = Pick<PaymentOrder, 'endToEnd' | 'clientRequestId'>;

/**
 * Compares a receipt with its order. A receipt with other ids belongs to another payment and proves
 * nothing about the ordered one.
 *
 * @throws ProviderError `unknown` when an id differs.
 */
export function checkReceipt(order: OrderIds, receipt: PaymentReceipt): PaymentReceipt {
  const isMatch =
    receipt.endToEnd === order.endToEnd && receipt.clientRequestId === order.clientRequestId;
  if (!isMatch) throw notUnderstood(new Error('the receipt has the ids of another payment'));
  return receipt;
}

/**
 * Sends a document, and distinguishes a failure of the database from a failure of the provider.
 *
 * If reading fails, the provider cannot have accepted the document, because its size was announced;
 * the circuit breaker does not count the attempt.
 *
 * @param send receives the document, which is read with back-pressure.
 * @throws ProviderError `not_sent` when the content cannot be read or has another size.
 */
export async function streamDocument<Response>(
  document: PersonDocument,
  send: (document: PersonDocument) => Promise<Response>,
): Promise<Response> {
  const readErrors: unknown[] = [];
  async function* content(): AsyncGenerator<Uint8Array> {
    try {
      yield* checkedContent(document);
    } catch (error) {
      readErrors.push(error);
      throw error;
    }
  }
  const { tipoDocumento, contentType, sizeBytes } = document;
  try {
    return await send({ tipoDocumento, contentType, sizeBytes, content });
  } catch (error) {
    if (readErrors.length === 0) throw error;
    throw notSent('unreadable', readErrors[0]);
  }
}

async function* checkedContent(document: PersonDocument): AsyncGenerator<Uint8Array> {
  let left = document.sizeBytes;
  for await (const chunk of document.content()) {
    left -= chunk.length;
    if (left < 0) throw new Error('the document is longer than its declared size');
    yield chunk;
  }
  if (left > 0) throw new Error('the document is shorter than its declared size');
}
