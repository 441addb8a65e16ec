/** A PgBouncer in front of the database, if it is installed. */
import { spawn, spawnSync } from 'node:child_process';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { unprivileged } from './cluster.ts';

const program = 'pgbouncer';

export interface PgBouncer {
  readonly url: string;
  close(): Promise<void>;
}

export interface PgBouncerSettings {
  /** By default `session`: Ponte refuses the other ones. */
  readonly pool_mode?: 'session' | 'transaction' | 'statement';
  /** Whether each transaction gets the session that has been idle longest: 1. */
  readonly server_round_robin?: 0 | 1;
}

export function isPgBouncerInstalled(): boolean {
  return spawnSync(program, ['--version']).status === 0;
}

/** @returns null where it is not installed. */
export async function startPgBouncer(
  databaseUrl: string,
  { pool_mode = 'session', server_round_robin = 0 }: PgBouncerSettings = {},
): Promise<PgBouncer | null> {
  if (!isPgBouncerInstalled()) return null;
  const owner = await unprivileged();
  const folder = await mkdtemp(join(tmpdir(), 'ponte-chaos-pgbouncer-'));
  if (owner.uid !== undefined) await chown(folder, owner.uid, owner.gid ?? owner.uid);
  const { hostname, port: serverPort, username, password } = new URL(databaseUrl);
  const secret = password && ` password=${decodeURIComponent(password)}`;
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  await writeFile(
    file,
    `[databases]
* = host=${hostname} port=${serverPort} user=${username}${secret}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${pool_mode}
server_round_robin = ${server_round_robin}
max_client_conn = 200
default_pool_size = 60
server_login_retry = 1
ignore_startup_parameters = options,statement_timeout,lock_timeout
`,
  );
  const child = spawn(program, ['-q', file], { cwd: folder, stdio: 'ignore', ...owner });
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  return {
    url: url.href,
    async close() {
      child.kill('SIGKILL');
      await rm(folder, { recursive: true });
    },
  };
}
