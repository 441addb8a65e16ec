/** Mutations of the returns that customers order: see `mutations.ts`. */
import { returnReservationStatements } from '../../src/ledger/return-reservation-repository.ts';
import { findReturns } from '../../src/ledger/transaction-repository.ts';
import type { Provider } from '../../src/provider/provider.ts';
import type { Mutation } from './deviation.ts';
import { replacing, responding } from './mutations-of-operations.ts';

let attempts = 0;

/** Each attempt to make a return has an id of its own. */
const newReturnIds = (wire: Provider): Provider => ({
  ...wire,
  refund(request) {
    attempts += 1;
    const number = String(attempts).padStart(8, '0');
    const { order } = request;
    const returnId = order.returnId.slice(0, -8) + number;
    return wire.refund({ ...request, order: { ...order, returnId, clientRequestId: number } });
  },
});

export const mutationsOfReturns: readonly Mutation[] = [
  { name: 'a return has a new id at each attempt', deviation: { wire: newReturnIds } },
  {
    name: 'the event of a return does not find it',
    deviation: responding(findReturns, () => null),
  },
  {
    name: 'all of a payment is returned, although a part was',
    deviation: replacing(returnReservationStatements.reserve, (text) =>
      text.replace('named.amount - summed.refunded as left_amount', 'named.amount as left_amount'),
    ),
  },
];
