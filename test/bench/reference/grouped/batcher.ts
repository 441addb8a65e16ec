/** Groups the concurrent calls of a statement: they share a round trip and a commit. */
import type { Query, Statement } from '../database.ts';

/** A row of a group's result, with the number of its call, from 1. */
export interface OrdinalRow {
  readonly ordinal: string;
}

interface Call<Row> {
  readonly values: readonly unknown[];
  resolve(row: Row | undefined): void;
  reject(error: unknown): void;
}

const maxCalls = 256;

/**
 * Runs a statement that takes an array for each parameter. One group is in flight; the calls that
 * arrive in the meantime form the next group. If the database refuses a group, its calls run one by
 * one; if the connection is lost, all of them fail.
 * @returns a function from the values of a call to its only row.
 */
export function grouped<Row extends OrdinalRow>(query: Query, statement: Statement) {
  let waiting: Call<Row>[] = [];
  let isBusy = false;

  async function send(calls: readonly Call<Row>[]): Promise<void> {
    const columns = calls[0]?.values.map((_, place) => calls.map(({ values }) => values[place]));
    const rows = await query<Row>(statement, columns ?? []);
    const byCall = new Map(rows.map((row) => [Number(row.ordinal), row]));
    for (const [place, call] of calls.entries()) call.resolve(byCall.get(place + 1));
  }

  async function sendAlone(calls: readonly Call<Row>[], error: unknown): Promise<void> {
    // The code is an SQLSTATE, which only the server sets: the connection is not lost.
    const isRefused = /^[0-9A-Z]{5}$/.test(String((error as { code?: unknown }).code));
    for (const call of calls) {
      if (isRefused && calls.length > 1)
        await send([call]).catch((own: unknown) => call.reject(own));
      else call.reject(error);
    }
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0) {
      const calls = waiting.slice(0, maxCalls);
      waiting = waiting.slice(maxCalls);
      await send(calls).catch((error: unknown) => sendAlone(calls, error));
    }
    isBusy = false;
  }

  return (values: readonly unknown[]): Promise<Row | undefined> =>
    new Promise((resolve, reject) => {
      waiting.push({ values, resolve, reject });
      if (isBusy) return;
      isBusy = true;
      // Requests read from the sockets in one turn of the event loop share a group.
      setImmediate(() => void drain());
    });
}
