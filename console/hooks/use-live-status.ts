/** Follows a transaction by long polls until it ends. */
import { setTimeout as pause } from 'node:timers/promises';
import { useEffect, useState } from 'react';
import type { PixStatus } from '../../contract/types.ts';
import type { OperationResponse } from '../api.ts';
import { failure, type Notice } from '../state/notice.ts';
import { lostText } from '../state/order-view.ts';
import { useApp, type AppValue } from './use-app.ts';

const waitSeconds = 20;

/** The pause after a poll without a response: the service may be restarting. */
const pauseMs = 2_000;

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
  const [live, setLive] = useState<{ id: string; status: PixStatus; isLost: boolean } | null>(null);
  const { transaction_id: id = null, status: first = null } = transaction ?? {};
  useEffect(() => {
    setLive(null);
    if (id === null || first !== 'PROCESSING') return undefined;
    const controller = new AbortController();
    const report: Following['report'] = (response) => {
      const status = response?.status === 200 ? response.body.status : 'PROCESSING';
      setLive({ id, status, isLost: response === null });
    };
    void follow({ api, id, report, signal: controller.signal });
    return () => controller.abort();
  }, [api, id, first]);
  // The state may still be that of the transaction before.
  const { status, isLost } = live?.id === id ? live : { status: first, isLost: false };
  return { status, notice: failure(isLost && lostText) };
}

interface Following extends Pick<AppValue, 'api'> {
  readonly id: string;
  readonly signal: AbortSignal;
  /** Receives each response about the transaction; null: the service does not answer. */
  report(response: OperationResponse<'getPixTransaction'> | null): void;
}

/** Polls a transaction until it ends, or is not found. */
export async function follow({ api, id, report, signal }: Following): Promise<void> {
  const request = { path: { transactionId: id }, headers: { Prefer: `wait=${waitSeconds}` } };
  while (!signal.aborted) {
    const response = await api.call('getPixTransaction', request, signal).catch(() => null);
    if (signal.aborted || response?.status === 401) return;
    const isAnswer = response?.status === 200 || response?.status === 404;
    report(isAnswer ? response : null);
    if (isAnswer && (response.status === 404 || response.body.status !== 'PROCESSING')) return;
    if (!isAnswer) await pause(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}
