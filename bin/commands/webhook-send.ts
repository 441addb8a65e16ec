/** `ponte webhook send`: posts a webhook to a service that runs, as the provider would. */
import { readFile } from 'node:fs/promises';
import { request } from 'undici';
import type { Config } from '../../src/config/config.ts';
import { OpError } from '../../src/operator/op.ts';
import type { WebhookComposeInput } from '../../src/operator/webhook-send.ts';
import { UnreachableError } from '../../src/operator/unreachable.ts';
import type { Desk } from '../desk.ts';
import { exitCodes, UsageError, type ExitCode } from '../exit-codes.ts';
import { ownAddress } from '../own-address.ts';
import { plainText } from '../table.ts';

export interface Options extends Pick<WebhookComposeInput, 'status' | 'shape'> {
  readonly transaction?: string;
  readonly file?: string;
  readonly url?: string;
  readonly secretStdin?: boolean;
  readonly json?: boolean;
}

/** Longer than the service takes to store an event. */
const timeoutMs = 10_000;

/** Posts; exit 1 when the service does not take it, 3 when it cannot be reached. */
export async function webhookSend(desk: Desk, options: Options): Promise<ExitCode> {
  const { transaction, file, json = false } = options;
  if ((transaction === undefined) === (file === undefined)) {
    throw new UsageError('give either --transaction or --file');
  }
  const config = desk.config();
  if (config.appEnv === 'production') {
    throw new OpError('REFUSED', 'in production only the provider tells how a payment has ended');
  }
  const url = urlOf(config, options.url);
  const secret = await secretOf(desk, url, options);
  const payload = await payloadOf(desk, options);
  const answer = await post(desk, { url, secret, payload });
  if (json) desk.terminal.json({ url: url.href, ...answer });
  else desk.terminal.print(`${answer.status}  ${plainText(answer.body)}`);
  return answer.status === 200 ? exitCodes.done : exitCodes.bad;
}

const intake = '/api/v1/webhooks/provider';

function ownUrl(config: Config): URL | null {
  const address = ownAddress(config);
  return address && new URL(intake, address);
}

function urlOf(config: Config, typed: string | undefined): URL {
  const url = typed === undefined ? ownUrl(config) : URL.parse(typed);
  if (url && /^https?:$/.test(url.protocol)) return url;
  if (typed === undefined) throw new UsageError('PORT is 0: say where to with --url');
  throw new UsageError('--url must be an http:// or https:// address');
}

/** The configured secret is for the configured service alone: nobody else is told it. */
async function secretOf(desk: Desk, url: URL, { secretStdin = false }: Options) {
  const config = desk.config();
  if (secretStdin) {
    const { readSecretLine } = await import('../prompts.ts');
    return readSecretLine(desk.terminal.streams);
  }
  if (url.origin === ownUrl(config)?.origin) return config.webhookSecrets[0];
  desk.terminal.remark('No secret is sent to this address: give it with --secret-stdin.');
  return undefined;
}

async function payloadOf(desk: Desk, options: Options): Promise<Buffer> {
  const { transaction, file, status, shape } = options;
  if (transaction !== undefined) {
    const input = { transactionId: transaction, status, shape };
    const { payload } = await desk.run('webhook send', input);
    return Buffer.from(JSON.stringify(payload));
  }
  try {
    return await readFile(file ?? '');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw new UsageError(`the file of --file cannot be read${code}`);
  }
}

interface Posting {
  readonly url: URL;
  readonly secret: string | undefined;
  readonly payload: Buffer;
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

async function post({ clock }: Desk, { url, secret, payload }: Posting): Promise<Answer> {
  const late = new AbortController();
  const cancel = clock.after(timeoutMs, () => late.abort());
  try {
    const { statusCode, body } = await request(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(secret !== undefined && { 'x-webhook-secret': secret }),
      },
      body: payload,
      signal: late.signal,
    });
    return { status: statusCode, body: await body.text() };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw new UnreachableError(`${url.origin} does not answer${code}`);
  } finally {
    cancel();
  }
}
