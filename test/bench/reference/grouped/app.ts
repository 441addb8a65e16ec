/**
 * The grouped server: the practical limit for the plain reference. It uses bare `node:http` and the
 * fewest statements; concurrent requests share statements and commits. It gives clients the same
 * guarantees, but has no time-outs, no log and no metrics. It stores the rows of the plain server,
 * or the least.
 */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { ReferenceSettings } from '../app.ts';
import { openPool } from '../database.ts';
import { openProvider } from '../provider.ts';
import { createSealer } from '../security.ts';
import { addAccess } from './access.ts';
import { notFound, type Reply } from './reply.ts';
import { addPix } from './pix.ts';
import { createTokens } from './tokens.ts';
import type { WriteStatements } from './statements.ts';
import { addWebhooks } from './webhooks.ts';

/** One connection for each statement, and some for logins. */
const connections = 12;

/** Forces one generic plan, with the indexes, for groups of every size. */
const planned = '-c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off';

/** Creates the server; `close` closes all that it has opened. */
export function createGrouped(settings: ReferenceSettings, statements: WriteStatements) {
  const url = new URL(settings.databaseUrl);
  url.searchParams.set('options', planned);
  const pool = openPool(url.href, connections);
  const { verify, sign } = createTokens(settings.privateKeyPem, settings.publicKeyPem);
  const parts = {
    query: pool.query,
    provider: openProvider(settings.providerUrl),
    sealer: createSealer(settings.encryptionKey),
    sign,
    decodeClaims: ({ headers: { authorization = '' } }: IncomingMessage) =>
      authorization.startsWith('Bearer ') ? verify(authorization.slice(7)) : null,
  };
  const pix = addPix(parts, statements);
  const access = addAccess(parts);
  const webhooks = addWebhooks(pool, settings.webhookSecret, statements);

  async function reply(request: IncomingMessage): Promise<Reply> {
    const { method, url: path = '' } = request;
    if (method === 'POST') {
      if (path === '/api/v1/pix/send') return pix.send(request);
      if (path === '/api/v1/webhooks/provider') return webhooks.receive(request);
      if (path === '/api/v1/auth/login') return access.login(request);
    } else if (method === 'GET') {
      if (path === '/api/v1/accounts/balance') return access.balance(request);
      if (path.startsWith('/api/v1/pix/')) return pix.find(request, path.slice(12));
      if (path === '/health/ready') {
        await pool.query({ name: 'ready', text: 'select 1' }, []);
        return { status: 200, body: { ready: true } };
      }
    }
    return notFound;
  }
  const server = serve(reply);
  return { server, close: () => closeAll(server, [webhooks, parts.provider, pool]) };
}

function serve(reply: (request: IncomingMessage) => Promise<Reply>): Server {
  const failed = (error: unknown): Reply => {
    console.error(error);
    return { status: 500, body: { message: 'This failed.' } };
  };
  return createServer((request, response) => {
    const sent = reply(request).catch(failed);
    void sent.then(({ status, body, headers = [] }) => {
      const text = body === undefined ? '' : JSON.stringify(body);
      const length = ['Content-Length', String(Buffer.byteLength(text))];
      response.writeHead(status, [
        ...headers,
        'X-Request-Id',
        String(request.headers['x-request-id'] ?? randomUUID()),
        'Cache-Control',
        'no-store',
        'X-Content-Type-Options',
        'nosniff',
        'Referrer-Policy',
        'no-referrer',
        ...(body ? ['Content-Type', 'application/json; charset=utf-8', ...length] : []),
      ]);
      response.end(text);
    });
  });
}

async function closeAll(server: Server, parts: readonly { close(): Promise<void> }[]) {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeAllConnections();
  await closed;
  for (const part of parts) await part.close();
}
