/**
 * A separate process that opens the embedded database of a folder and prints that it has. In the
 * task `write` it then inserts rows, and prints each one after its commit.
 */
import { writeSync } from 'node:fs';
import { systemClock } from '../../src/clock.ts';
import { openDatabase } from '../../src/db/database.ts';

const [, , dataDir = '', task] = process.argv;

/** Writes synchronously: output buffered in the process would be lost when it is killed. */
const say = (words: string) => writeSync(1, `${words}\n`);

try {
  const db = await openDatabase({ databaseUrl: undefined, dataDir, clock: systemClock });
  say('opened');
  for (let row = 0; task === 'write'; row += 1) {
    const text = `insert into throttle_counters values ($1, now(), 1, now())`;
    await db.query({ name: 'write', text }, [`row-${row}`]);
    say(`committed row-${row}`);
  }
  // Keeps the database until the process is ended.
  setInterval(() => undefined, 60_000);
} catch (error) {
  say(`refused ${error instanceof Error ? error.name : 'unknown'}`);
}
