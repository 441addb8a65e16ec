/**
 * The delivery of an app event: a POST, signed as Standard Webhooks
 * (https://www.standardwebhooks.com). It is delivered at least once, in no promised order.
 */
import { createHmac } from 'node:crypto';
import { request } from 'undici';
import type { Clock } from '../clock.ts';
import type { TraceContext } from '../domain/trace-context.ts';
import type { Config } from '../config/config.ts';
import { failureReason } from '../pix/failure-reason.ts';
import type { UndeliveredEvent } from './outbox-repository.ts';

/** In milliseconds, from the connection to the status. */
const timeoutMs = 10_000;

/** In bytes; a connection whose response is longer is not used again. */
const maxResponseLength = 16_384;

interface DeliveryOptions {
  readonly clock: Clock;
  readonly stopping: AbortSignal;
  /** The span of the delivery; the backend continues its trace. */
  readonly trace?: TraceContext | undefined;
}

/** The backend did not take the event: it is delivered again later. */
class DeliveryError extends Error {
  /** `status_503`, `timeout` or `unreachable`. */
  readonly code: string;

  constructor(code: string) {
    super(`the app's backend did not take an event: ${code}`);
    this.name = 'DeliveryError';
    this.code = code;
  }
}

/**
 * Posts an event. Only a status from 200 to 299 takes it; a redirect is not followed, and the body
 * of the response is ignored.
 * @throws DeliveryError when the backend does not take it.
 */
export async function postEvent(
  { url, secrets }: NonNullable<Config['appEvents']>,
  event: UndeliveredEvent,
  { clock, stopping, trace }: DeliveryOptions,
): Promise<void> {
  const body = JSON.stringify(buildBody(event));
  const timestamp = String(Math.floor(clock.now().getTime() / 1_000));
  const late = new AbortController();
  const cancel = clock.after(timeoutMs, () => late.abort());
  try {
    const { statusCode, body: response } = await request(url, {
      method: 'POST',
      body,
      signal: AbortSignal.any([late.signal, stopping]),
      headers: {
        'content-type': 'application/json',
        'user-agent': 'ponte',
        ...(trace && { traceparent: trace.traceparent }),
        'webhook-id': event.id,
        'webhook-timestamp': timestamp,
        'webhook-signature': secrets
          .map((secret) => sign(secret, `${event.id}.${timestamp}.${body}`))
          .join(' '),
      },
    });
    // Most is left unread: the connection ends with it.
    await response.dump({ limit: maxResponseLength });
    if (statusCode < 200 || statusCode > 299) throw new DeliveryError(`status_${statusCode}`);
  } catch (error) {
    if (error instanceof DeliveryError) throw error;
    throw new DeliveryError(late.signal.aborted ? 'timeout' : 'unreachable');
  } finally {
    cancel();
  }
}

/** No personal data: the backend reads what else it needs by the ids. */
function buildBody(event: UndeliveredEvent) {
  const { type, at, userId, transactionId, operation, status, isCorrection, paidAgainBy } = event;
  const { failureCode, isOverrule } = event;
  return {
    type,
    timestamp: at.toISOString(),
    data: {
      user_id: userId,
      ...(transactionId !== null && { transaction_id: transactionId, transaction_type: operation }),
      status,
      ...(failureCode !== null && { failure: formatFailure(failureCode) }),
      ...(isCorrection && { corrected: true }),
      ...(isOverrule && { overruled: true }),
      ...(paidAgainBy !== null && { paid_again_by: paidAgainBy }),
    },
  };
}

/**
 * The published code with its sentence, never the provider's words; English, as without a request.
 */
function formatFailure(stored: string) {
  const { code, text } = failureReason(stored);
  return { code, message: text.en };
}

/** @param secret `whsec_` and base64. */
function sign(secret: string, content: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  return `v1,${createHmac('sha256', key).update(content).digest('base64')}`;
}
