import type { TokenOperation } from '../context/operation.ts';
import { cancelOrder } from './cancel-order.ts';
import { completeOrderRefusal, orderHeaders } from './order-refusal.ts';
import { pixReply } from './transaction-reply.ts';

/** Gives a send up. */
export const cancelPix: TokenOperation<'cancelPix'> = {
  access: 'token',
  checksSession: true,
  refusalHeaders: orderHeaders,
  completeRefusal: (context, call) => completeOrderRefusal(context, call, 'SEND'),
  async run(context, { input, token, request }) {
    const key = { operation: 'SEND', idempotencyKey: input.headers['Idempotency-Key'] } as const;
    const { transaction, replayed } = await cancelOrder(context, token, { key, request });
    return pixReply(transaction, {
      replayed,
      locale: request.locale,
      now: context.clock.now(),
    });
  },
};
