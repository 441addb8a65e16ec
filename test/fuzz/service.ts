/** The fuzzed service: a separate process, its database, and the bank over HTTP. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/clock.ts';
import { providerFeatures } from '../../src/config/formats.ts';
import { openSandbox } from '../../src/provider/sandbox/open.ts';
import type { Bank } from '../../src/provider/sandbox/bank/bank.ts';
import { createBenchDatabase } from '../bench/databases.ts';
import { startServer, type Server } from '../bench/processes.ts';
import { serverEnvironment } from '../bench/settings.ts';
import { typePonte } from '../support/command-line.ts';
import { serverUrl } from '../support/db.ts';
import { webhookSecret } from './drafts.ts';

/** A payment that the bank executed. */
export interface Executed {
  readonly clientRequestId: string;
  readonly endToEnd: string;
}

export interface FuzzedService {
  readonly server: Server;
  readonly port: number;
  /** The payments that the bank executed, in order. */
  readonly executed: readonly Executed[];
  /** Whether it alone uses its event loop: the embedded database uses it too. */
  readonly isLoopItsOwn: boolean;
  /** Stops it and checks the money invariants of its rows. @returns the violations. */
  audit(): Promise<string[]>;
}

export const password = 'correct horse battery';

/** Starts it with users with these e-mails; `parts` closes everything. */
export async function startFuzzed(
  emails: readonly string[],
  parts: AsyncDisposableStack,
): Promise<FuzzedService> {
  const folder = await mkdtemp(join(tmpdir(), 'ponte-fuzz-'));
  parts.defer(() => rm(folder, { recursive: true, force: true }));
  const sandbox = parts.adopt(await openBank(), (opened) => opened.close());
  const env = {
    ...serverEnvironment(),
    ...(await databaseSettings(parts)),
    DATA_DIR: folder,
    PROVIDER_STUB: 'false',
    PROVIDER_BASE_URL: sandbox.url,
    PROVIDER_FEATURES: providerFeatures.join(','),
    PROVIDER_TIMEOUT_MS: '2000',
    ONBOARDING_LOCAL_ONLY: 'false',
    WEBHOOK_SECRET: webhookSecret,
    THROTTLE_LOGIN_PER_MINUTE: '0',
    THROTTLE_ADDRESS_PER_MINUTE: '0',
    THROTTLE_USER_PER_MINUTE: '0',
  };
  await ponte(env, 'migrate up');
  for (const email of emails) await createUser(env, email, documentAt(sandbox.bank, email));
  const probe = join(import.meta.dirname, 'probe.js');
  const start = { env, isWatched: false, nodeArgs: [`--import=${probe}`] };
  const server = parts.adopt(await startServer('ponte', start), (started) => started.stop());
  return {
    server,
    port: Number(new URL(server.url).port),
    executed: watch(sandbox.bank),
    isLoopItsOwn: serverUrl !== undefined,
    async audit() {
      await server.stop();
      const { stdout } = await typePonte(['pix', 'audit', '--json'], { environment: env });
      const { invariants } = JSON.parse(stdout) as AuditReport;
      return invariants.filter(({ broken }) => broken > 0).map(({ says }) => `audit: ${says}`);
    },
  };
}

interface AuditReport {
  readonly invariants: readonly { readonly broken: number; readonly says: string }[];
}

function openBank() {
  return openSandbox({
    clock: systemClock,
    ispb: '11165756',
    host: '127.0.0.1',
    port: 0,
    settleMs: 0,
    openingBalanceCents: 1e14,
  });
}

/** On the server that DATABASE_URL names, otherwise embedded. */
async function databaseSettings(parts: AsyncDisposableStack): Promise<Record<string, string>> {
  if (!serverUrl) return { APP_ENV: 'test' };
  const name = `fuzz_${randomBytes(4).toString('hex')}`;
  const made = await createBenchDatabase(serverUrl, name);
  parts.defer(() => made.drop());
  return { DATABASE_URL: made.url };
}

async function createUser(env: Record<string, string>, email: string, document: string) {
  const person = `--email ${email} --phone +5511987654321 --document ${document} --name Maria`;
  await ponte(env, `user create ${person} --by fuzz --password-stdin`, password);
}

/** The document of the bank's customer: a login with another one is refused. */
function documentAt(bank: Bank, email: string): string {
  const login = bank.login({ email, password });
  if (login.outcome !== 'done') throw new Error(`the bank does not know ${email}`);
  return login.value.account.document;
}

async function ponte(environment: Record<string, string>, line: string, stdin = '') {
  const { code, stderr } = await typePonte(line.split(' '), { environment, stdin });
  if (code !== 0) throw new Error(`ponte ${line}: ${stderr}`);
}

/** Records the payments that the bank executes, independent of its responses. */
function watch(bank: Bank): Executed[] {
  const executed: Executed[] = [];
  const pay = bank.pay.bind(bank);
  const known = new Set<string>();
  bank.pay = (token, order) => {
    const response = pay(token, order);
    void Promise.resolve(response).then(({ outcome }) => {
      if (outcome === 'refused' || known.has(order.endToEnd)) return;
      known.add(order.endToEnd);
      executed.push({ clientRequestId: order.clientRequestId, endToEnd: order.endToEnd });
    });
    return response;
  };
  return executed;
}
