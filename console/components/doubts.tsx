/** Follows the payments in doubt on every screen, so that no doubt outlives its payment. */
import { useEffect } from 'react';
import { useApp } from '../hooks/use-app.ts';
import { useLiveStatus } from '../hooks/use-live-status.ts';
import { doubtPayment } from '../state/app-state.ts';

export function Doubts() {
  const { holder, doubtful, transactions } = useApp().state;
  if (holder === null) return null;
  return doubtful.flatMap((key) => {
    const id = transactions[key];
    return id === undefined ? [] : [<Doubt key={key} {...{ idempotencyKey: key, id }} />];
  });
}

function Doubt({ idempotencyKey, id }: { readonly idempotencyKey: string; readonly id: string }) {
  const { change } = useApp();
  const { status } = useLiveStatus({ transaction_id: id, status: 'PROCESSING' });
  useEffect(() => {
    if (status !== 'PROCESSING') change(doubtPayment(idempotencyKey, false));
  }, [status]);
  return null;
}
