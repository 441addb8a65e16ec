/**
 * Reports to the development pages that a transaction of any customer has ended, so that they read
 * the balance and the lists again. The reply has no transaction data and needs no login.
 */
import { pause } from '../clock.ts';
import type { LocalContext } from '../context/context.ts';
import { jsonReply } from '../http/reply.ts';
import type { SystemRoute } from '../http/router.ts';
import { lastSettled } from './change-repository.ts';

const pollMs = 1_000;

/** Shorter than the time-outs of common proxies. */
const maxWaitMs = 20_000;

/**
 * `GET /dev/changes?since=MARK` responds `{mark}` as soon as the mark has changed, or after 20
 * seconds. It polls, because no notification is sent for a received Pix or a refund.
 */
export function changesRoute(context: LocalContext): SystemRoute {
  return {
    kind: 'system',
    name: 'page',
    method: 'GET',
    path: '/dev/changes',
    async reply({ request, response }) {
      const [, query = ''] = (request.url ?? '').split('?');
      const since = new URLSearchParams(query).get('since');
      const gone = new AbortController();
      response.once('close', () => gone.abort());
      const ended = AbortSignal.any([gone.signal, context.stopping]);
      const endsAtMs = context.clock.now().getTime() + maxWaitMs;
      for (;;) {
        const mark = await lastSettled(context);
        const isOver = ended.aborted || context.clock.now().getTime() >= endsAtMs;
        if (mark !== since || isOver) return jsonReply(200, { mark });
        await pause(context.clock, pollMs, ended);
      }
    },
  };
}
