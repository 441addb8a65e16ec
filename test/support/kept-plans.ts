/**
 * Keeps the plans of an embedded database that one service after another uses: to parse and plan a
 * statement takes several times as long in WebAssembly as to execute it. The database has one
 * prepared statement for each text; the names that a session gives stand for these.
 */
import type { PGlite } from '@electric-sql/pglite';

type Run = PGlite['execProtocolStream'];

/** Parse, Bind, Describe, and Query (PostgreSQL, "Message Formats"). */
const [parse, bind, describe, query] = Buffer.from('PBDQ');

const headerBytes = 5;

/** A kept statement would fail once its result has other columns. */
const changesSchema = /\b(?:create|alter|drop|discard|deallocate)\b/i;

/** Resets a session as `discard all` does, except its plans. */
export const resetSession = `
close all;
set session authorization default;
reset all;
unlisten *;
select pg_advisory_unlock_all();
discard sequences;
discard temp`;

/** The statements of one database. */
export class KeptPlans {
  /** The name of each, by its text and the types of its parameters. */
  readonly #names = new Map<string, string>();
  #made = 0;

  /** @returns what runs the messages of a new session, each call up to a Sync. */
  session(run: Run): Run {
    const named = new Map<string, string>();
    return async (batch, options) => {
      const messages = [...messagesIn(Buffer.from(batch))];
      const wanted = this.#statementOf(messages);
      if (wanted === null) return run(joined(messages, named), options);
      // PostgreSQL refuses a second statement under the same name, but not without a name.
      const taken = wanted.name === '' ? undefined : named.get(wanted.name);
      const known = this.#names.get(wanted.key);
      const name = taken ?? known ?? `kept_${(this.#made += 1)}`;
      named.set(wanted.name, name);
      const isParsed = known !== undefined && taken === undefined;
      const answers = await run(joined(isParsed ? messages.slice(1) : messages, named), options);
      if (isParsed) return [{ name: 'parseComplete', length: headerBytes }, ...answers];
      const isKept = answers.some((answer) => answer.name === 'parseComplete');
      if (isKept) this.#names.set(wanted.key, name);
      return answers;
    };
  }

  /** @returns the statement that messages prepare; null for none, and for one that is not kept. */
  #statementOf([first]: readonly Buffer[]): { name: string; key: string } | null {
    if (first === undefined || (first[0] !== parse && first[0] !== query)) return null;
    const [name, rest] = cString(first, headerBytes);
    const key = first.toString('latin1', rest);
    if (changesSchema.test(first[0] === query ? name : key)) this.#names.clear();
    return first[0] === parse ? { name, key } : null;
  }
}

function* messagesIn(batch: Buffer): Iterable<Buffer> {
  for (let start = 0; start < batch.length;) {
    const end = start + 1 + batch.readInt32BE(start + 1);
    yield batch.subarray(start, end);
    start = end;
  }
}

/** @returns the messages as one, with the names of the database. */
function joined(messages: readonly Buffer[], named: ReadonlyMap<string, string>): Buffer {
  return Buffer.concat(messages.map((message) => renamed(message, named)));
}

/** @returns the message with the database's name of its statement. */
function renamed(message: Buffer, named: ReadonlyMap<string, string>): Buffer {
  const place = placeOfName(message);
  if (place === null) return message;
  const [name, rest] = cString(message, place);
  const changed = Buffer.concat([
    message.subarray(0, place),
    Buffer.from(`${named.get(name) ?? name}\0`),
    message.subarray(rest),
  ]);
  changed.writeInt32BE(changed.length - 1, 1);
  return changed;
}

/** @returns where a message names a statement; null if it names none. */
function placeOfName(message: Buffer): number | null {
  if (message[0] === parse) return headerBytes;
  // The name of the portal comes first.
  if (message[0] === bind) return cString(message, headerBytes)[1];
  const isOfStatement = message[0] === describe && message[headerBytes] === 0x53;
  return isOfStatement ? headerBytes + 1 : null;
}

/** @returns a text that ends with a zero byte, and the place behind it. */
function cString(message: Buffer, start: number): [text: string, end: number] {
  const end = message.indexOf(0, start);
  return [message.toString('utf8', start, end), end + 1];
}
