/** The CPU and memory of processes as Linux reports them; null on other systems. */
import { readFileSync } from 'node:fs';
import type pg from 'pg';

/** The tick of `/proc/<pid>/stat`: 10 ms on every Linux that Node runs on. */
const tickMs = 10;

/** The CPU of a process with all its threads, in milliseconds; null where it cannot be read. */
export function readCpuMs(pid: number): number | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may contain spaces; the fields after it do not.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * tickMs;
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

/** @returns the total bytes that the server has written to its write-ahead log. */
export async function logPosition(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ bytes: string }>(
    `select pg_current_wal_insert_lsn() - '0/0' as bytes`,
  );
  return Number(rows[0]?.bytes);
}

export type CpuOfDatabase = ReadonlyMap<number, number>;

/**
 * Total CPU of the processes that serve a database and of the one that writes the log; null when
 * the server is on another machine.
 */
export async function databaseCpu(client: pg.Client): Promise<CpuOfDatabase | null> {
  const { rows } = await client.query<{ pid: number }>(
    `select pid from pg_stat_activity
      where pid <> pg_backend_pid()
        and (datname = current_database() or backend_type = 'walwriter')`,
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
