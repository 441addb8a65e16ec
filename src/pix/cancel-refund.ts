import type { TokenOperation } from '../context/operation.ts';
import { cancelOrder } from './cancel-order.ts';
import { completeOrderRefusal, orderHeaders } from './order-refusal.ts';
import { returnReply } from './transaction-reply.ts';

/** Gives a return up. A key has one return, whichever transaction the path names. */
export const cancelRefund: TokenOperation<'cancelRefund'> = {
  access: 'token',
  checksSession: true,
  refusalHeaders: orderHeaders,
  completeRefusal: (context, call) => completeOrderRefusal(context, call, 'REFUND_OUT'),
  async run(context, { input, token, request }) {
    const { 'Idempotency-Key': idempotencyKey } = input.headers;
    const key = { operation: 'REFUND_OUT', idempotencyKey } as const;
    const { transaction, replayed } = await cancelOrder(context, token, { key, request });
    return returnReply(transaction, {
      replayed,
      locale: request.locale,
      now: context.clock.now(),
    });
  },
};
