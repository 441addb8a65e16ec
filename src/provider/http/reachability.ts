/** Whether the provider's address answers at all, for whoever sets the service up. */
import { Agent, request } from 'undici';
import type { Clock } from '../../clock.ts';

export interface Reachability {
  /** Any status is an answer. */
  readonly status: number;
  readonly latencyMs: number;
  /** What the answer's Date header says; null without one. */
  readonly time: Date | null;
}

export interface ReachabilityOptions {
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/**
 * Asks the base address, without credentials and without following it anywhere.
 * @throws Error of the connection, with its `code`; of the signal when the time is up.
 */
export async function reachProvider(options: ReachabilityOptions): Promise<Reachability> {
  const { baseUrl, timeoutMs, clock } = options;
  const late = new AbortController();
  const cancel = clock.after(timeoutMs, () => late.abort());
  const agent = new Agent({ connect: { rejectUnauthorized: true } });
  const askedMs = clock.now().getTime();
  try {
    const { statusCode, headers, body } = await request(baseUrl, {
      dispatcher: agent,
      signal: late.signal,
    });
    const latencyMs = clock.now().getTime() - askedMs;
    body.on('error', () => undefined).destroy();
    return { status: statusCode, latencyMs, time: timeOf(headers['date']) };
  } finally {
    cancel();
    await agent.destroy();
  }
}

function timeOf(header: string | string[] | undefined): Date | null {
  const time = new Date(String(header));
  return Number.isNaN(time.getTime()) ? null : time;
}
