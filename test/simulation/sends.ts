/** The operation by which customers pay, and its refusals as the server completes them. */
import type { Context } from '../../src/context/context.ts';
import type { RefusedCall } from '../../src/context/operation.ts';
import { AppError } from '../../src/errors.ts';
import { refundPix } from '../../src/pix/refund-pix.ts';
import { sendPix } from '../../src/pix/send-pix.ts';

/** The real operation, or a changed one: see `deviation.ts`. */
export type SendOperation = typeof sendPix;

/** A refusal before the server has completed it. */
type Thrown<Id extends 'sendPix' | 'refundPix'> = Omit<RefusedCall<Id>, 'error'> & {
  readonly error: unknown;
};

/** Completes a refusal of a send, as the server does, and throws it. */
export async function completeRefusal(
  context: Context,
  { error, ...call }: Thrown<'sendPix'>,
): Promise<never> {
  if (!(error instanceof AppError)) throw error;
  throw (await sendPix.completeRefusal?.(context, { error, ...call })) ?? error;
}

/** Completes a refusal of a return, as the server does, and throws it. */
export async function completeReturnRefusal(
  context: Context,
  { error, ...call }: Thrown<'refundPix'>,
): Promise<never> {
  if (!(error instanceof AppError)) throw error;
  throw (await refundPix.completeRefusal?.(context, { error, ...call })) ?? error;
}
