/** The operation by which customers pay, and its refusals as the server completes them. */
import type { Context } from '../../src/context/context.ts';
import type { RefusedCall } from '../../src/context/operation.ts';
import { AppError } from '../../src/errors.ts';
import { sendPix } from '../../src/pix/send-pix.ts';

/** The real operation, or a changed one: see `deviation.ts`. */
export type SendOperation = typeof sendPix;

/** Completes a refusal of a send, as the server does, and throws it. */
export async function completeRefusal(
  context: Context,
  { error, ...call }: Omit<RefusedCall<'sendPix'>, 'error'> & { readonly error: unknown },
): Promise<never> {
  if (!(error instanceof AppError)) throw error;
  throw (await sendPix.completeRefusal?.(context, { error, ...call })) ?? error;
}
