/** Follows a transaction by long polls until it ends. */
import { setTimeout as pause } from 'node:timers/promises';
import { useEffect, useState } from 'react';
import type { PixStatus } from '../../contract/types.ts';
import { failure, type Notice } from '../state/notice.ts';
import { useApp, type AppValue } from './use-app.ts';

const waitSeconds = 20;

/** The pause after a poll without a response: the service may be restarting. */
const pauseMs = 2_000;

interface Reported {
  readonly status: PixStatus;
  /** Whether the last poll had no response. */
  readonly isLost: boolean;
}

export interface LiveStatus {
  /** The newest known status; null without a transaction. */
  readonly status: PixStatus | null;
  readonly notice: Notice | null;
}

/** @param transaction the first response about it. */
export function useLiveStatus(
  transaction: { readonly transaction_id: string; readonly status: PixStatus } | null,
): LiveStatus {
  const { api } = useApp();
  const [live, setLive] = useState<(Reported & { readonly id: string }) | null>(null);
  const { transaction_id: id = null, status: first = null } = transaction ?? {};
  useEffect(() => {
    setLive(null);
    if (id === null || first !== 'PROCESSING') return undefined;
    const controller = new AbortController();
    const report = (reported: Reported): void => setLive({ ...reported, id });
    void follow({ api, id, report, signal: controller.signal });
    return () => controller.abort();
  }, [api, id, first]);
  // The state may still be that of the transaction before.
  const { status, isLost } = live?.id === id ? live : { status: first, isLost: false };
  return { status, notice: failure(isLost && 'The service does not answer; the console retries.') };
}

interface Following extends Pick<AppValue, 'api'> {
  readonly id: string;
  readonly signal: AbortSignal;
  report(reported: Reported): void;
}

async function follow({ api, id, report, signal }: Following): Promise<void> {
  const request = { path: { transactionId: id }, headers: { Prefer: `wait=${waitSeconds}` } };
  while (!signal.aborted) {
    const response = await api.call('getPixTransaction', request, signal).catch(() => null);
    if (signal.aborted || response?.status === 401 || response?.status === 404) return;
    if (response?.status === 200) {
      report({ status: response.body.status, isLost: false });
      if (response.body.status !== 'PROCESSING') return;
    } else {
      report({ status: 'PROCESSING', isLost: true });
      await pause(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }
}
