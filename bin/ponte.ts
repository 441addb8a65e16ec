/**
 * The command line. Each command is a file under `commands/`, loaded when it is called, so that
 * `ponte --help` does not load the service.
 */
import { accessSync, constants, lstatSync, mkdirSync, readFileSync } from 'node:fs';
import module from 'node:module';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { TypedOptions } from './commands/provider-sandbox.ts';

/** Kept equal to `engines` in package.json and to the shim. */
const requiredNode = [26, 10] as const;

const root = join(import.meta.dirname, '..');

function refuseOldNode(): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const [requiredMajor, requiredMinor] = requiredNode;
  if (major > requiredMajor || (major === requiredMajor && minor >= requiredMinor)) return;
  const required = `${requiredMajor}.${requiredMinor}.0`;
  process.stderr.write(
    `ponte needs Node ${required} or newer and found v${process.versions.node}: ` +
      "run 'npm ci' in the project, and start it with 'npx ponte' or bin/ponte.\n",
  );
  process.exit(1);
}

/** With its modules compiled before, the whole service starts in about a fifth of a second. */
function cacheCompiledModules(): void {
  const folder = cacheFolder();
  if (folder) module.enableCompileCache(folder);
}

function cacheFolder(): string | null {
  const folders = [
    join(root, 'node_modules', '.cache', 'ponte'),
    join(tmpdir(), `ponte-cache-${userInfo().uid}`),
  ];
  return folders.find(isOurs) ?? null;
}

/** What is in the cache is run, so a folder that others may write to will not do. */
function isOurs(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK);
    const found = lstatSync(folder);
    const { uid } = userInfo();
    return found.isDirectory() && (uid < 0 || (found.uid === uid && (found.mode & 0o022) === 0));
  } catch {
    return false;
  }
}

function versionOfPonte(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return (manifest as { version: string }).version;
}

function describe(program: Command): Command {
  program
    .name('ponte')
    .description('Mobile banking middleware between a mobile app and a banking provider')
    .version(versionOfPonte());

  program
    .command('serve')
    .description('start the service; its settings are listed in .env.example')
    .action(async () => {
      const { serve } = await import('./commands/serve.ts');
      await serve();
    });

  program
    .command('worker')
    .description('run jobs and serve nothing, beside servers with JOBS=off')
    .action(async () => {
      const { worker } = await import('./commands/worker.ts');
      await worker();
    });

  describeUser(program);
  describeProviderSandbox(program);
  return program;
}

function describeUser(program: Command): void {
  program
    .command('user')
    .description('users of the app')
    .command('create-dev')
    .description('make sure of the development user, from PROVIDER_EMAIL and PROVIDER_PASSWORD')
    .action(async () => {
      const { createDevUser } = await import('./commands/user-create-dev.ts');
      await createDevUser();
    });
}

function describeProviderSandbox(program: Command): void {
  program
    .command('provider-sandbox')
    .description("serve a simulated bank behind the provider's HTTP paths, with faults on demand")
    .option('--host <address>', 'listening address', '127.0.0.1')
    .option('--port <number>', 'listening port; 0 takes any free one', '9090')
    .option('--faults <rules>', 'what goes wrong, such as payments:5xx-after@0.1')
    .option('--seed <text>', 'what chance is drawn from: the same seed, the same faults', '1')
    .option('--webhook-url <address>', 'where the webhooks are posted')
    .option('--webhook-secret <text>', 'sent with them in X-Webhook-Secret')
    .option('--settle-ms <number>', "from a payment to its webhook; 0: when it's told to", '1500')
    .option('--data <folder>', 'keeps its state there; in memory otherwise')
    .addHelpText('after', sandboxExample)
    .action(async (options: TypedOptions) => {
      const { providerSandbox } = await import('./commands/provider-sandbox.ts');
      await providerSandbox(options);
    });
}

const sandboxExample = `
Example: a provider that loses one payment in ten, and the service on it
  ponte provider-sandbox --faults 'payments:5xx-after@0.1,keys/dict:latency=200ms@0.5' \\
    --webhook-url http://127.0.0.1:3000/api/v1/webhooks/provider
  PROVIDER_STUB=false PROVIDER_BASE_URL=http://127.0.0.1:9090 ponte serve

The values that make it misbehave are listed when it starts; while it runs,
http://127.0.0.1:9090/sandbox lists the rules of --faults and what it can be told to do.`;

refuseOldNode();
cacheCompiledModules();
// Imported here and not above, so that it is compiled after the cache is on.
const { Command: Program } = await import('commander');
await describe(new Program()).parseAsync();
