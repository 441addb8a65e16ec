/** Follows the orders in doubt on every screen, so that no doubt outlives its order. */
import { useEffect } from 'react';
import { useApp } from '../hooks/use-app.ts';
import { useLiveStatus } from '../hooks/use-live-status.ts';
import { endDoubt, type DoubtfulOrder } from '../state/app-state.ts';

export function Doubts() {
  const { holder, doubtful } = useApp().state;
  if (holder === null) return null;
  return doubtful.flatMap((order) => {
    const { form, key, transactionId: id } = order;
    return id === undefined ? [] : [<Doubt key={`${form} ${key}`} {...{ order, id }} />];
  });
}

function Doubt({ order, id }: { readonly order: DoubtfulOrder; readonly id: string }) {
  const { change } = useApp();
  const { status } = useLiveStatus({ transaction_id: id, status: 'PROCESSING' });
  useEffect(() => {
    if (status !== 'PROCESSING') change(endDoubt(order));
  }, [status]);
  return null;
}
