/** Follows the orders that wait for their end, on every screen, so that no doubt outlives them. */
import { useEffect } from 'react';
import { useApp } from '../hooks/use-app.ts';
import { follow } from '../hooks/use-live-status.ts';
import { findOrder, noteOrder, type Order } from '../state/app-state.ts';
import { readAnswer } from '../state/outcomes.ts';

export function Doubts() {
  const { holder, orders } = useApp().state;
  if (holder === null) return null;
  return orders
    .filter(({ answer }) => answer.next === 'wait')
    .map((order) => <Follow key={`${order.form} ${order.key}`} order={order} />);
}

function Follow({ order }: { readonly order: Order }) {
  const { api, change } = useApp();
  const id = order.answer.made.transaction_id ?? '';
  useEffect(() => {
    const controller = new AbortController();
    void follow({
      api,
      id,
      signal: controller.signal,
      report: (response) =>
        change((state) => {
          const now = findOrder(state, order);
          // Without a response, or before a new one to the order itself, it stays as it is.
          if (now?.answer.next !== 'wait') return state;
          const answer = response ? readAnswer(response, now.answer) : now.answer;
          return noteOrder({ ...now, answer, isLost: response === null })(state);
        }),
    });
    return () => controller.abort();
  }, [api, id]);
  return null;
}
