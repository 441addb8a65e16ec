/** Logins and balances at the grouped server. */
import type { IncomingMessage } from 'node:http';
import { createLogin } from '../login.ts';
import { loginSchema } from '../schemas.ts';
import { ajv, readBytes, invalid, notFound, parsed, unauthenticated } from './reply.ts';
import type { Reply, Parts } from './reply.ts';
import { grouped, type OrdinalRow } from './batcher.ts';
import { findPrincipals, keepBalances } from './statements.ts';

interface PrincipalRow extends OrdinalRow {
  readonly sealed_token: Buffer;
  readonly account_id: number | null;
  readonly balance: string | null;
}

const isLogin = ajv.compile<{ email: string; password: string }>(loginSchema.body);

export function addAccess(parts: Parts) {
  const { query, provider, sealer, decodeClaims, sign } = parts;
  const logIn = createLogin({ ...parts, perMinute: { email: 1_000_000, address: 1_000_000 } });
  const find = grouped<PrincipalRow>(query, findPrincipals);
  const keep = grouped<OrdinalRow>(query, keepBalances);
  return {
    async balance(request: IncomingMessage): Promise<Reply> {
      const claims = decodeClaims(request);
      if (!claims) return unauthenticated;
      const row = await find([claims.sid, Number(claims.sub)]);
      if (!row) return unauthenticated;
      const { account_id: account, balance: kept, sealed_token: sealed } = row;
      if (account === null) return notFound;
      const token = sealer.open(sealed, `user:${Number(claims.sub)}`);
      const balance = await provider.balance(token);
      if (kept === null || Number(kept) !== balance) await keep([account, balance]);
      return { status: 200, body: { balance, source: 'provider' } };
    },

    async login(request: IncomingMessage): Promise<Reply> {
      const body = parsed(await readBytes(request));
      if (!isLogin(body)) return invalid;
      const result = await logIn({ ...body, address: request.socket.remoteAddress ?? '' });
      if (typeof result === 'string') {
        return { status: result === 'throttled' ? 429 : 422, body: { message: result } };
      }
      const token = sign({ sub: String(result.userId), sid: result.sessionId });
      return { status: 200, body: { access_token: token, token_type: 'Bearer' } };
    },
  };
}
