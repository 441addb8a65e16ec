/**
 * The reference: what a good, plain implementation of the same endpoints looks like. Fastify with
 * JSON schemas, `@fastify/jwt` with RS256, a `pg` pool of ten with named statements, and the same
 * guarantees on the same schema. Nothing in it is slow on purpose, and nothing is grouped.
 */
import { createHash, randomUUID, timingSafeEqual } from 'node:crypto';
import jwt from '@fastify/jwt';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { findPrincipal, findTransaction, keepBalance, openPool } from './database.ts';
import { createLogin } from './login.ts';
import { answerOf, openBank, type Bank } from './provider.ts';
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
}

interface Claims {
  readonly sub: string;
  readonly sid: string;
}

interface PrincipalRow {
  readonly session_id: string;
  readonly sealed_token: Buffer;
  readonly user_id: number;
  readonly user_document: string | null;
  readonly account_id: number | null;
  readonly agency: string | null;
  readonly account_number: string | null;
  readonly account_document: string | null;
  readonly balance: string | null;
}

declare module 'fastify' {
  interface FastifyRequest {
    principal: PrincipalRow;
  }
}

/** Makes the reference server; `listen` opens it, `close` closes all that it has opened. */
export async function createReference(settings: ReferenceSettings): Promise<FastifyInstance> {
  const app = fastify({ logger: false, bodyLimit: 262_144 });
  const pool = openPool(settings.databaseUrl);
  const parts = {
    query: pool.query,
    bank: openBank(),
    sealer: createSealer(settings.encryptionKey),
  };
  await app.register(jwt, {
    secret: { private: settings.privateKeyPem, public: settings.publicKeyPem },
    sign: { algorithm: 'RS256', iss: 'ponte', aud: 'ponte-app', expiresIn: '1h' },
    verify: { algorithms: ['RS256'], allowedIss: 'ponte', allowedAud: 'ponte-app' },
  });
  app.decorateRequest('principal', null as unknown as PrincipalRow);
  app.addHook('onSend', async (request, reply) => {
    reply.headers({
      'X-Request-Id': request.headers['x-request-id'] ?? randomUUID(),
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
    });
  });
  app.get('/health/ready', async () => {
    await parts.query({ name: 'ready', text: 'select 1' }, []);
    return { ready: true };
  });
  addPix(app, parts);
  addAccess(app, parts);
  addWebhooks(app, { ...parts, secret: settings.webhookSecret });
  app.addHook('onClose', () => pool.close());
  return app;
}

interface Parts {
  readonly query: ReturnType<typeof openPool>['query'];
  readonly bank: Bank;
  readonly sealer: ReturnType<typeof createSealer>;
}

/** The signature, then the session in the database, at each request. */
function authenticated({ query }: Parts) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    try {
      const { sid, sub } = await request.jwtVerify<Claims>();
      const [principal] = await query<PrincipalRow>(findPrincipal, [sid, Number(sub)]);
      if (principal) {
        request.principal = principal;
        return undefined;
      }
    } catch {
      // Whatever is wrong with the token, the answer is one.
    }
    return reply.code(401).send({ message: 'Your session is missing, invalid or has ended.' });
  };
}

function tokenOf({ sealer }: Parts, { sealed_token: sealed, user_id: id }: PrincipalRow): string {
  return sealer.open(sealed, `user:${id}`);
}

function addPix(app: FastifyInstance, parts: Parts): void {
  const onRequest = authenticated(parts);
  const send = createSend(parts.query, parts.bank);

  app.post<{ Body: SendRequest['body']; Headers: { 'idempotency-key': string } }>(
    '/api/v1/pix/send',
    { schema: schemas.sendSchema, onRequest },
    async (request, reply) => {
      const { principal, body } = request;
      const { agency, account_number: accountNumber, account_document: document } = principal;
      if (!agency || !accountNumber || !document) {
        return reply.code(422).send({ message: 'Your account is not complete yet.' });
      }
      const sent = await send({
        userId: principal.user_id,
        token: tokenOf(parts, principal),
        account: { agency, accountNumber, document },
        key: request.headers['idempotency-key'],
        body,
      });
      if (!sent) return reply.code(422).send({ message: 'This key belongs to another request.' });
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
      const { user_id: userId } = request.principal;
      const [row] = await parts.query<TransactionRow>(findTransaction, [transactionId, userId]);
      if (!row) return reply.code(404).send({ message: 'There is no such thing.' });
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
  const { query, bank } = parts;
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
    { schema: schemas.balanceSchema, onRequest: authenticated(parts) },
    async ({ principal }, reply) => {
      const { account_id: account, balance: kept } = principal;
      if (account === null) return reply.code(404).send({ message: 'There is no account.' });
      const balance = (await answerOf(bank.balance(tokenOf(parts, principal)))) / 100;
      if (kept === null || Number(kept) !== balance) await query(keepBalance, [account, balance]);
      return { balance, source: 'provider' };
    },
  );
}

function addWebhooks(app: FastifyInstance, { query, secret }: Parts & { secret: string }): void {
  const loop = createWebhookLoop(query, (error) => console.error(error));
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  const expected = digest(secret);
  const isSecret = (given: unknown): boolean => timingSafeEqual(digest(String(given)), expected);
  app.addHook('preClose', () => loop.close());
  void app.register(async (scope) => {
    // The raw bytes are what is stored and what tells a duplicate.
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
