/**
 * LISTEN on one connection of its own, which comes back by itself. What was notified while it was
 * away is lost, so every listener is called once after a reconnection and looks for itself.
 */
import pg from 'pg';
import { pause, type Clock } from '../clock.ts';

type Listener = (payload: string) => void;

const retryDelayMs = 1_000;

/** Listens on one PostgreSQL server, for any number of channels and listeners. */
export class Notifications {
  readonly #url: string;
  readonly #clock: Clock;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #closed = new AbortController();
  /** What the current connection was asked to listen to; kept once the server has taken it. */
  #asked = new Map<string, Promise<unknown>>();
  #client: pg.Client | null = null;
  #connecting: Promise<void> | null = null;

  constructor(url: string, clock: Clock) {
    this.#url = url;
    this.#clock = clock;
  }

  /**
   * @param channel a name of ours: it stands in the statement.
   * @returns what takes the listener back.
   */
  async listen(channel: string, listener: Listener): Promise<() => Promise<void>> {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners);
    listeners.add(listener);
    try {
      await this.#connected();
      // A connection lost just now comes back with every channel, and tells every listener.
      if (this.#client) await this.#ask(this.#client, channel);
    } catch (error) {
      listeners.delete(listener);
      throw error;
    }
    return async () => {
      listeners.delete(listener);
    };
  }

  async close(): Promise<void> {
    this.#closed.abort();
    await this.#connecting?.catch(() => undefined);
    await this.#client?.end().catch(() => undefined);
    this.#client = null;
  }

  #connected(): Promise<void> {
    if (this.#client) return Promise.resolve();
    this.#connecting ??= this.#connect().finally(() => {
      this.#connecting = null;
    });
    return this.#connecting;
  }

  async #connect(): Promise<void> {
    if (this.#closed.signal.aborted) throw new Error('the database is closed');
    const client = new pg.Client({
      connectionString: this.#url,
      application_name: 'ponte-listen',
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
    });
    client.on('error', () => this.#lost(client));
    client.on('end', () => this.#lost(client));
    client.on('notification', ({ channel, payload }) => this.#tell(channel, payload ?? ''));
    this.#asked = new Map();
    try {
      await client.connect();
      for (const channel of this.#listeners.keys()) await this.#ask(client, channel);
    } catch (error) {
      void client.end().catch(() => undefined);
      throw error;
    }
    this.#client = client;
  }

  /** Every listener of a channel waits for the one statement: before it, nothing is delivered. */
  #ask(client: pg.Client, channel: string): Promise<unknown> {
    const asked = this.#asked.get(channel) ?? client.query(`listen ${channel}`);
    this.#asked.set(channel, asked);
    return asked;
  }

  #tell(channel: string, payload: string): void {
    for (const listener of this.#listeners.get(channel) ?? []) listener(payload);
  }

  #lost(client: pg.Client): void {
    if (this.#client !== client || this.#closed.signal.aborted) return;
    this.#client = null;
    void this.#reconnect();
  }

  async #reconnect(): Promise<void> {
    while (!this.#client) {
      await pause(this.#clock, retryDelayMs, this.#closed.signal);
      if (this.#closed.signal.aborted) return;
      await this.#connected().catch(() => undefined);
    }
    for (const channel of this.#listeners.keys()) this.#tell(channel, '');
  }
}
