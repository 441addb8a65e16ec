/** A separate PostgreSQL with a standby, in a folder, in which faults are injected. */
import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { chown, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from '../support/free-port.ts';

const run = promisify(execFile);

/** The folder of the newest server programs; null where none is installed. */
export function serverPrograms(): string | null {
  const found = globSync('/usr/lib/postgresql/*/bin/initdb').toSorted().at(-1);
  return found === undefined ? null : dirname(found);
}

/** The faults crash processes, never the machine: written data survives without fsync. */
const settings = `
  listen_addresses = '127.0.0.1'
  unix_socket_directories = ''
  max_connections = 250
  fsync = off
  wal_level = replica
  hot_standby = on
`;

export class Cluster {
  readonly port: number;
  readonly #programs: string;
  readonly #folder: string;
  readonly #owner: { readonly uid?: number; readonly gid?: number };
  readonly #isSynchronous: boolean;
  /** The number of the primary in the order of creation; the standby has the next one. */
  #nth = 1;
  #standbyPort = 0;

  private constructor(programs: string, folder: string, of: Parts) {
    this.#programs = programs;
    this.#folder = folder;
    this.port = of.port;
    this.#owner = of.owner;
    this.#isSynchronous = of.isSynchronous;
  }

  /**
   * Creates and starts a primary with its standby.
   * @param options `isSynchronous`: whether commits wait for the standby.
   */
  static async create(programs: string, { isSynchronous = true } = {}): Promise<Cluster> {
    const owner = await unprivileged();
    const folder = await mkdtemp(join(tmpdir(), 'ponte-chaos-postgres-'));
    if (owner.uid !== undefined) await chown(folder, owner.uid, owner.gid ?? owner.uid);
    const cluster = new Cluster(programs, folder, {
      port: await freePort(),
      owner,
      isSynchronous,
    });
    const data = cluster.#data();
    await cluster.#do('initdb', '-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync');
    await writeFile(join(data, 'postgresql.auto.conf'), settings);
    await cluster.start();
    await cluster.#makeStandby();
    return cluster;
  }

  get url(): string {
    return urlAt(this.port);
  }

  /** The address of the standby, also after its promotion until it takes over the primary's. */
  get standbyUrl(): string {
    return urlAt(this.#standbyPort);
  }

  async start(): Promise<void> {
    await this.#start(this.#data(), this.port);
  }

  /** @param mode `immediate`: a crash, from which the next start recovers. */
  async stop(mode: 'fast' | 'immediate'): Promise<void> {
    await this.#stop(this.#data(), mode);
  }

  /** Suspends every process of the primary. @returns a function that resumes them. */
  freeze(): () => void {
    const [line = ''] = readFileSync(join(this.#data(), 'postmaster.pid'), 'utf8').split('\n');
    const children = readFileSync(`/proc/${line}/task/${line}/children`, 'utf8').trim().split(' ');
    const pids = [line, ...children].map(Number);
    const signal = (name: NodeJS.Signals): void => {
      for (const pid of pids) {
        try {
          process.kill(pid, name);
        } catch {
          // A backend has ended in the meantime.
        }
      }
    };
    signal('SIGSTOP');
    return () => signal('SIGCONT');
  }

  async setReadOnly(isReadOnly: boolean): Promise<void> {
    await this.#alter(`default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`);
  }

  /** Kills the primary: the standby takes over its role and address, and gets a new standby. */
  async failOver(): Promise<void> {
    await this.stop('immediate');
    await this.promote();
    await this.takeAddress();
    await this.#makeStandby();
  }

  /** Stops the replication: the standby keeps what it has, and later commits are not on it. */
  async cutReplication(): Promise<void> {
    const cut = `alter system set primary_conninfo = ''`;
    await execute(this.standbyUrl, cut, 'select pg_reload_conf()');
  }

  /** Promotes the standby of a primary that was killed. It stays at its own address. */
  async promote(): Promise<void> {
    await rm(this.#data(), { recursive: true });
    this.#nth += 1;
    await this.#do('pg_ctl', '-D', this.#data(), '-w', 'promote');
  }

  /** Moves the promoted standby to the address of the former primary. */
  async takeAddress(): Promise<void> {
    await this.#stop(this.#data(), 'fast');
    await this.start();
  }

  async close(): Promise<void> {
    for (const data of [this.#data(), this.#data(1)]) {
      await this.#stop(data, 'immediate').catch(() => undefined);
    }
    await rm(this.#folder, { recursive: true });
  }

  #data(after = 0): string {
    return join(this.#folder, `server-${this.#nth + after}`);
  }

  /** Creates the standby; from then on commits wait for it. */
  async #makeStandby(): Promise<void> {
    const data = this.#data(1);
    await this.#alter(`synchronous_standby_names = ''`);
    await this.#do('pg_basebackup', '-D', data, '-d', this.url, '-R', '--no-sync', '-c', 'fast');
    this.#standbyPort = await freePort();
    await this.#start(data, this.#standbyPort);
    if (this.#isSynchronous) await this.#alter(`synchronous_standby_names = '*'`);
  }

  async #alter(setting: string): Promise<void> {
    const statements = [
      'set default_transaction_read_only = off',
      'set synchronous_commit = local',
      `alter system set ${setting}`,
      'select pg_reload_conf()',
    ];
    await execute(this.url, ...statements);
  }

  async #start(data: string, port: number): Promise<void> {
    const log = join(this.#folder, 'log');
    await this.#do('pg_ctl', '-D', data, '-l', log, '-w', '-t', '120', '-o', `-p ${port}`, 'start');
  }

  async #stop(data: string, mode: string): Promise<void> {
    await this.#do('pg_ctl', '-D', data, '-m', mode, '-w', '-t', '120', 'stop');
  }

  async #do(program: string, ...args: string[]): Promise<void> {
    await run(join(this.#programs, program), args, { cwd: this.#folder, ...this.#owner });
  }
}

interface Owner {
  readonly owner: { readonly uid?: number; readonly gid?: number };
}

interface Parts extends Pick<Cluster, 'port'>, Owner {
  readonly isSynchronous: boolean;
}

function urlAt(port: number): string {
  return `postgres://postgres@127.0.0.1:${port}/postgres`;
}

/** Executes statements one after the other on one connection. */
async function execute(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** The user to run the server programs as: they refuse root, so PostgreSQL's own user. */
export async function unprivileged(): Promise<Owner['owner']> {
  if (process.getuid?.() !== 0) return {};
  const [uid, gid] = await Promise.all(
    ['-u', '-g'].map(async (flag) => Number((await run('id', [flag, 'postgres'])).stdout)),
  );
  return { ...(uid !== undefined && { uid }), ...(gid !== undefined && { gid }) };
}
