/** The CPU and memory of processes as Linux reports them; null on other systems. */
import { readdirSync, readFileSync } from 'node:fs';
import type pg from 'pg';

/** The CPU of a process with all its threads, in milliseconds; null where it cannot be read. */
export function readCpuMs(pid: number): number | null {
  try {
    // In nanoseconds; `stat` counts in ticks of 10 ms, too coarse for a round with few requests.
    return readdirSync(`/proc/${pid}/task`).reduce((total, thread) => {
      const schedstat = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8');
      return total + Number(schedstat.split(' ', 1)[0]) / 1e6;
    }, 0);
  } catch {
    return null;
  }
}

/** Resident memory in MB; null where it cannot be read. */
export function readMemoryMb(pid: number): number | null {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const kib = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
    return kib === undefined ? null : Number(kib) / 1_024;
  } catch {
    return null;
  }
}

export type CpuOfDatabase = ReadonlyMap<number, number>;

/** The CPU of each process that serves a database; null when the server is on another machine. */
export async function databaseCpu(client: pg.Client): Promise<CpuOfDatabase | null> {
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity
      where pid <> pg_backend_pid() and datname = current_database()
        and backend_type = 'client backend'`,
  );
  const found = new Map<number, number>();
  for (const { pid } of rows) {
    const cpuMs = isPostgres(pid) ? readCpuMs(pid) : null;
    if (cpuMs === null) return null;
    found.set(pid, cpuMs);
  }
  return found;
}

function isPostgres(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('postgres');
  } catch {
    return false;
  }
}

/** @returns the CPU ms between two readings; a process that starts in between counts in full. */
export function cpuMsBetween(
  before: CpuOfDatabase | null,
  after: CpuOfDatabase | null,
): number | null {
  if (before === null || after === null) return null;
  let total = 0;
  for (const [pid, cpuMs] of after) total += cpuMs - (before.get(pid) ?? 0);
  return total;
}
