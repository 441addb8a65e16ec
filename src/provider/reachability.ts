/** Checks that the provider's address responds, for `ponte doctor`. */
import { Agent, request } from 'undici';
import type { Clock } from '../clock.ts';

export interface Reachability {
  /** Any status proves that the address is reachable. */
  readonly status: number;
  readonly latencyMs: number;
  /** The `Date` header of the response; null without one. */
  readonly time: Date | null;
}

export interface ReachabilityOptions {
  readonly baseUrl: string;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/**
 * Requests the base URL, without credentials and without following redirects.
 * @throws Error of the connection, with its `code`, or of the time-out.
 */
export async function reachProvider(options: ReachabilityOptions): Promise<Reachability> {
  const { baseUrl, timeoutMs, clock } = options;
  const late = new AbortController();
  const cancel = clock.after(timeoutMs, () => late.abort());
  const agent = new Agent({ connect: { rejectUnauthorized: true } });
  const sentAtMs = clock.now().getTime();
  try {
    const { statusCode, headers, body } = await request(baseUrl, {
      dispatcher: agent,
      signal: late.signal,
    });
    const latencyMs = clock.now().getTime() - sentAtMs;
    body.on('error', () => undefined).destroy();
    return { status: statusCode, latencyMs, time: parseDate(headers['date']) };
  } finally {
    cancel();
    await agent.destroy();
  }
}

function parseDate(header: string | string[] | undefined): Date | null {
  const time = new Date(String(header));
  return Number.isNaN(time.getTime()) ? null : time;
}
