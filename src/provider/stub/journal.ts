/**
 * The bank's journal: one JSON line for each entry, only ever appended. A bank outlives its
 * customers' crashes, so the simulated one, which lives inside the service's process, has to
 * outlive the process. It holds no token and no password.
 */
import { mkdir, open, readFile, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { nextTurn } from '../../clock.ts';
import type { BankEntry } from './entries.ts';

export interface Journal {
  /** What was written before this process, oldest first. */
  readonly history: readonly BankEntry[];
  /**
   * Writes an entry after all those before it.
   *
   * @returns resolved once the entry is in the file: it then survives the end of the process
   *   (`kill -9`), though not a power cut, because nothing waits for the disk.
   * @throws when it could not be written; from then on nothing more is written, since part of a
   *   line may stand at the end of the file.
   */
  append(entry: BankEntry): Promise<void>;
  /** Writes what is still waiting and closes the file. */
  close(): Promise<void>;
}

/** Entries that are written together, because they came while the ones before were written. */
interface Batch {
  readonly lines: string[];
  readonly written: PromiseWithResolvers<void>;
}

const NEWLINE = 0x0a;

/**
 * Opens a journal, making the file (readable by its owner only) when there is none.
 *
 * A last line without its end was cut by a crash: its entry was never answered for, so it is
 * dropped.
 *
 * @throws Error naming the line when one cannot be read.
 */
export async function openJournal(path: string): Promise<Journal> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, 'a', 0o600);
  try {
    await file.chmod(0o600);
    const content = await readFile(path);
    const whole = content.subarray(0, content.lastIndexOf(NEWLINE) + 1);
    if (whole.length < content.length) await file.truncate(whole.length);
    return new FileJournal(file, parseLines(path, whole));
  } catch (error) {
    await file.close();
    throw error;
  }
}

class FileJournal implements Journal {
  readonly history: readonly BankEntry[];
  readonly #file: FileHandle;
  #next: Batch | null = null;
  #writing: Promise<void> | null = null;
  #closedBecause: Error | null = null;

  constructor(file: FileHandle, history: readonly BankEntry[]) {
    this.#file = file;
    this.history = history;
  }

  append(entry: BankEntry): Promise<void> {
    if (this.#closedBecause !== null) return Promise.reject(this.#closedBecause);
    const batch = (this.#next ??= { lines: [], written: Promise.withResolvers() });
    batch.lines.push(`${JSON.stringify(entry)}\n`);
    this.#writing ??= this.#write();
    return batch.written.promise;
  }

  async close(): Promise<void> {
    this.#closedBecause ??= new Error('the journal is closed');
    await this.#writing;
    await this.#file.close();
  }

  async #write(): Promise<void> {
    while (this.#next !== null) {
      // What comes in one turn of the event loop is written together.
      await nextTurn();
      const batch: Batch = this.#next;
      this.#next = null;
      try {
        await this.#file.appendFile(batch.lines.join(''));
        batch.written.resolve();
      } catch (cause) {
        this.#closedBecause = new Error('the journal could not be written', { cause });
        batch.written.reject(this.#closedBecause);
        this.#refuseWaiting(this.#closedBecause);
      }
    }
    this.#writing = null;
  }

  #refuseWaiting(reason: Error): void {
    this.#next?.written.reject(reason);
    this.#next = null;
  }
}

/** Read line by line from the bytes: a long journal does not fit into one string. */
function parseLines(path: string, content: Buffer): BankEntry[] {
  const entries: BankEntry[] = [];
  for (let from = 0; from < content.length;) {
    const end = content.indexOf(NEWLINE, from);
    entries.push(parseLine(content.toString('utf8', from, end), `${path}:${entries.length + 1}`));
    from = end + 1;
  }
  return entries;
}

function parseLine(line: string, where: string): BankEntry {
  try {
    const entry = JSON.parse(line) as BankEntry;
    if (typeof entry.entry === 'string') return entry;
  } catch {
    // A line that is no JSON is refused below, like one that is no entry.
  }
  throw new Error(`${where} is no entry of the simulated bank; remove the file to start it anew`);
}
