/** Follows a transaction by long polls until it has ended. */
import { useEffect, useState } from 'react';
import type { PixStatus } from '../../contract/types.ts';
import type { Api } from '../api.ts';
import { useDesk } from '../desk-context.ts';

const waitSeconds = 20;

/** After a poll without an answer: the service may be restarting. */
const pauseMs = 2_000;

export interface Live {
  /** The newest status that is known; null without a transaction. */
  readonly status: PixStatus | null;
  /** The service does not answer now; it is asked again. */
  readonly isLost: boolean;
}

/** @param transaction what the service said of it at first. */
export function useLiveStatus(
  transaction: { readonly transaction_id: string; readonly status: PixStatus } | null,
): Live {
  const { api } = useDesk();
  const [live, setLive] = useState<(Live & { readonly id: string }) | null>(null);
  const id = transaction?.transaction_id ?? null;
  const first = transaction?.status ?? null;
  useEffect(() => {
    setLive(null);
    if (id === null || first !== 'PROCESSING') return undefined;
    const controller = new AbortController();
    const tell = (now: Live): void => setLive({ ...now, id });
    void follow({ api, id, tell, signal: controller.signal });
    return () => controller.abort();
  }, [api, id, first]);
  return live !== null && live.id === id ? live : { status: first, isLost: false };
}

interface Following {
  readonly api: Api;
  readonly id: string;
  readonly signal: AbortSignal;
  tell(live: Live): void;
}

async function follow({ api, id, tell, signal }: Following): Promise<void> {
  const input = { path: { transactionId: id }, headers: { Prefer: `wait=${waitSeconds}` } };
  while (!signal.aborted) {
    const answer = await api.call('getPixTransaction', input, signal).catch(() => null);
    if (signal.aborted || answer?.status === 401 || answer?.status === 404) return;
    if (answer?.status === 200) {
      tell({ status: answer.body.status, isLost: false });
      if (answer.body.status !== 'PROCESSING') return;
    } else {
      tell({ status: 'PROCESSING', isLost: true });
      await pause(pauseMs, signal);
    }
  }
}

/** Waits, and no longer than somebody looks. */
function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, delayMs);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
