/**
 * The reference: a good, plain implementation of the same endpoints with the same guarantees, on
 * tables of its own. It uses Fastify with JSON schemas, `@fastify/jwt` with RS256 and its cache of
 * verified tokens, and a `pg` pool with one named statement for each step. Requests do not share
 * statements; events are settled in batches.
 */
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import jwt from '@fastify/jwt';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { findPrincipal, findTransaction, saveBalance, openPool, type Pool } from './database.ts';
import { createLogin } from './login.ts';
import { openProvider, type Provider } from './provider.ts';
import * as schemas from './schemas.ts';
import { createSealer } from './security.ts';
import { createSend, type SendRequest, type TransactionRow } from './send.ts';
import { createWebhookLoop } from './webhook-loop.ts';

export interface ReferenceSettings {
  readonly databaseUrl: string;
  readonly privateKeyPem: string;
  readonly publicKeyPem: string;
  readonly encryptionKey: Buffer;
  readonly webhookSecret: string;
  /** The address of the bank. */
  readonly providerUrl: string;
}

/** The best of 4, 10 and 20 for sends, balances and webhooks, and within 5 % of it for reads. */
const poolSize = 10;

interface Claims {
  readonly sub: string;
  readonly sid: string;
}

interface PrincipalRow {
  readonly sealed_token: Buffer;
  readonly user_id: number;
  readonly account_id: number | null;
  readonly balance: string | null;
}

/** The id is null if the session is valid and the transaction does not exist. */
type FoundRow = Pick<TransactionRow, 'status' | 'qr_code' | 'copy_paste'> & {
  readonly id: string | null;
};

declare module 'fastify' {
  interface FastifyRequest {
    claims: Claims;
  }
}

/** Creates the reference server; `listen` opens it, `close` closes all that it has opened. */
export async function createReference(settings: ReferenceSettings): Promise<FastifyInstance> {
  const app = fastify({ logger: false, bodyLimit: 262_144 });
  const pool = openPool(settings.databaseUrl, poolSize);
  const parts = {
    query: pool.query,
    provider: openProvider(settings.providerUrl),
    sealer: createSealer(settings.encryptionKey),
  };
  await app.register(jwt, {
    secret: { private: settings.privateKeyPem, public: settings.publicKeyPem },
    sign: { algorithm: 'RS256', iss: 'ponte', aud: 'ponte-app', expiresIn: '1h' },
    verify: {
      algorithms: ['RS256'],
      allowedIss: 'ponte',
      allowedAud: 'ponte-app',
      cache: true,
    },
  });
  app.decorateRequest('claims', null as unknown as Claims);
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers({
      'X-Request-Id': request.headers['x-request-id'] ?? randomUUID(),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
    });
    done();
  });
  app.get('/health/ready', async () => {
    await parts.query({ name: 'ready', text: 'select 1' }, []);
    return { ready: true };
  });
  addPix(app, parts);
  addAccess(app, parts);
  addWebhooks(app, pool, settings.webhookSecret);
  app.addHook('onClose', async () => {
    await parts.provider.close();
    await pool.close();
  });
  return app;
}

interface Parts {
  readonly query: Pool['query'];
  readonly provider: Provider;
  readonly sealer: ReturnType<typeof createSealer>;
}

/** Checks only the signature of a token: the statement of each request checks the session. */
function authenticated(app: FastifyInstance) {
  return (request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
    const [scheme, token] = request.headers.authorization?.split(' ') ?? [];
    try {
      if (scheme !== 'Bearer' || token === undefined) throw new Error('there is no token');
      request.claims = app.jwt.verify<Claims>(token);
    } catch {
      void unauthenticated(reply);
      return;
    }
    done();
  };
}

function unauthenticated(reply: FastifyReply): FastifyReply {
  return reply.code(401).send({ message: 'Your session is missing, invalid or has ended.' });
}

const refusals = {
  'no account': 'Your account is not complete yet.',
  'key in use': 'This key belongs to another request.',
} as const;

function addPix(app: FastifyInstance, parts: Parts): void {
  const onRequest = authenticated(app);
  const send = createSend(parts);

  app.post<{ Body: SendRequest['body']; Headers: { 'idempotency-key': string } }>(
    '/api/v1/pix/send',
    { schema: schemas.sendSchema, onRequest },
    async (request, reply) => {
      const { claims, body } = request;
      const sent = await send({
        userId: Number(claims.sub),
        sessionId: claims.sid,
        key: request.headers['idempotency-key'],
        body,
      });
      if (sent === 'no session') return unauthenticated(reply);
      if (typeof sent === 'string') return reply.code(422).send({ message: refusals[sent] });
      const { transaction, replayed } = sent;
      reply.header('Pix-Outcome', transaction.outcome ?? 'unknown');
      if (replayed) reply.header('Idempotency-Replayed', 'true');
      return {
        transaction_id: transaction.id,
        status: transaction.status,
        ...(transaction.end_to_end !== null && { end_to_end: transaction.end_to_end }),
      };
    },
  );

  app.get<{ Params: { transactionId: string } }>(
    '/api/v1/pix/:transactionId',
    { schema: schemas.findSchema, onRequest },
    async (request, reply) => {
      const { transactionId } = request.params;
      const { sid, sub } = request.claims;
      const values = [sid, Number(sub), transactionId];
      const [row] = await parts.query<FoundRow>(findTransaction, values);
      if (!row) return unauthenticated(reply);
      if (row.id === null) return reply.code(404).send({ message: 'There is no such thing.' });
      const body = {
        transaction_id: row.id,
        status: row.status,
        ...(row.qr_code !== null && { qr_code: row.qr_code }),
        ...(row.copy_paste !== null && { copy_paste: row.copy_paste }),
      };
      const hash = createHash('sha256').update(JSON.stringify(body)).digest('base64url');
      const etag = `"${hash.slice(0, 22)}"`;
      reply.header('ETag', etag);
      return request.headers['if-none-match'] === etag ? reply.code(304).send() : body;
    },
  );
}

function addAccess(app: FastifyInstance, parts: Parts): void {
  const { query, provider, sealer } = parts;
  const login = createLogin({ ...parts, perMinute: { email: 1_000_000, address: 1_000_000 } });

  app.post<{ Body: { email: string; password: string } }>(
    '/api/v1/auth/login',
    { schema: schemas.loginSchema },
    async (request, reply) => {
      const result = await login({ ...request.body, address: request.ip });
      if (result === 'throttled') return reply.code(429).send({ message: 'Too many attempts.' });
      if (result === 'refused') {
        return reply.code(422).send({ message: 'The e-mail or the password is wrong.' });
      }
      const { userId, sessionId } = result;
      const claims = { sub: String(userId), sid: sessionId, jti: randomUUID() };
      return { access_token: await reply.jwtSign(claims), token_type: 'Bearer' };
    },
  );

  app.get<{ Reply: unknown }>(
    '/api/v1/accounts/balance',
    { schema: schemas.balanceSchema, onRequest: authenticated(app) },
    async ({ claims: { sid, sub } }, reply) => {
      const [principal] = await query<PrincipalRow>(findPrincipal, [sid, Number(sub)]);
      if (!principal) return unauthenticated(reply);
      const { account_id: account, balance: kept, sealed_token: sealed } = principal;
      if (account === null) return reply.code(404).send({ message: 'There is no account.' });
      const token = sealer.open(sealed, `user:${principal.user_id}`);
      const balance = await provider.balance(token);
      if (kept === null || Number(kept) !== balance) await query(saveBalance, [account, balance]);
      return { balance, source: 'provider' };
    },
  );
}

function addWebhooks(app: FastifyInstance, pool: Pool, secret: string): void {
  const loop = createWebhookLoop(pool, (error) => console.error(error));
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const expected = digest(secret);
  const isSecret = (received: unknown): boolean =>
    timingSafeEqual(digest(String(received)), expected);
  app.addHook('preClose', () => loop.close());
  void app.register(async (scope) => {
    // Parsed as bytes: they are stored, and their hash identifies a duplicate.
    scope.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    );
    scope.post<{ Body: Buffer }>(
      '/api/v1/webhooks/provider',
      { schema: schemas.webhookSchema },
      async (request, reply) => {
        if (!isSecret(request.headers['x-webhook-secret'])) {
          return reply.code(401).send({ message: 'The secret is wrong.' });
        }
        try {
          JSON.parse(request.body.toString());
        } catch {
          return reply.code(400).send({ message: 'The body is not JSON.' });
        }
        const { id, duplicate } = await loop.receive(request.body);
        return { message: 'The event is received.', event_id: id, duplicate };
      },
    );
  });
}
