/** The sandbox in a separate process. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { root } from './service-process.ts';

/** Starts `ponte provider-sandbox`. @returns its address. */
export async function startSandbox(t: TestContext, webhookUrl: string): Promise<string> {
  const args = ['--port', '0', '--settle-ms', '100', '--webhook-url', webhookUrl];
  const command = [join(root, 'bin', 'ponte.ts'), 'provider-sandbox', ...args];
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  for await (const line of createInterface(child.stdout)) {
    const [, url] = /PROVIDER_BASE_URL=(\S+)/.exec(line) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error('the sandbox did not start');
}
