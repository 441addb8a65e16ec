/**
 * LISTEN on one connection of its own, which comes back by itself. What was notified while it was
 * away is lost, so every listener is called when it is lost and when it is back, and looks for
 * itself. A heartbeat finds a connection that has fallen silent.
 */
import { pause, type Clock } from '../clock.ts';
import { ListenConnection } from './listen-connection.ts';

type Listener = (payload: string) => void;

const retryDelayMs = 1_000;

/** With the deadline it bounds how long a silent connection passes for a good one. */
const heartbeatMs = 3_000;

export interface NotificationsOptions {
  readonly url: string;
  readonly clock: Clock;
  /** How long the server may take to answer, in ms of the network's time, not of the clock's. */
  readonly deadlineMs?: number;
  /** Called when notifications stop arriving, and when they arrive again. */
  readonly onChange?: (areUp: boolean) => void;
}

/** Listens on one PostgreSQL server, for any number of channels and listeners. */
export class Notifications {
  readonly #options: NotificationsOptions;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #closed = new AbortController();
  /** `new`: there has been no listener yet, so nothing is connected. */
  #state: 'new' | 'up' | 'down' = 'new';
  /** The one that is open or about to be. */
  #connection: ListenConnection | null = null;
  #firstAttempt: Promise<void> | null = null;
  #cancelHeartbeat: () => void = () => undefined;

  constructor(options: NotificationsOptions) {
    this.#options = options;
  }

  /** False while notifications are missed. */
  get areUp(): boolean {
    return this.#state !== 'down';
  }

  /**
   * Resolves when notifications arrive, or when they cannot for now: the listener is called as soon
   * as they do.
   * @param channel a name of ours: it stands in the statement.
   * @returns what takes the listener back.
   * @throws Error when this is closed.
   */
  async listen(channel: string, listener: Listener): Promise<() => Promise<void>> {
    if (this.#closed.signal.aborted) throw new Error('the database is closed');
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners);
    listeners.add(listener);
    if (this.#state === 'new') await (this.#firstAttempt ??= this.#connect());
    // A connection that is lost comes back with every channel, and calls every listener.
    if (this.#state === 'up') await this.#connection?.listen(channel).catch(() => undefined);
    return async () => {
      listeners.delete(listener);
    };
  }

  /** Closes the connection without waiting for the server. */
  async close(): Promise<void> {
    this.#closed.abort();
    this.#cancelHeartbeat();
    this.#connection?.close();
  }

  /** One attempt; when it fails, it is repeated until one succeeds. */
  async #connect(): Promise<void> {
    const { url, deadlineMs = 3_000 } = this.#options;
    const connection = new ListenConnection({
      url,
      deadlineMs,
      onNotification: (channel, payload) => this.#call(channel, payload),
      onLost: () => this.#lost(),
    });
    this.#connection = connection;
    try {
      await connection.open(this.#listeners.keys());
    } catch {
      // `#lost` has set the next attempt.
      return;
    }
    this.#beatLater(connection);
    this.#change('up');
  }

  #lost(): void {
    if (this.#closed.signal.aborted) return;
    this.#cancelHeartbeat();
    this.#change('down');
    const { clock } = this.#options;
    void pause(clock, retryDelayMs, this.#closed.signal).then(() => {
      if (!this.#closed.signal.aborted) void this.#connect();
    });
  }

  #change(state: 'up' | 'down'): void {
    const before = this.#state;
    if (state === before || this.#closed.signal.aborted) return;
    this.#state = state;
    if (before === 'new' && state === 'up') return;
    this.#options.onChange?.(state === 'up');
    for (const channel of this.#listeners.keys()) this.#call(channel, '');
  }

  #beatLater(connection: ListenConnection): void {
    this.#cancelHeartbeat = this.#options.clock.after(heartbeatMs, () => {
      connection.beat().then(
        () => this.#beatLater(connection),
        () => undefined,
      );
    });
  }

  #call(channel: string, payload: string): void {
    for (const listener of this.#listeners.get(channel) ?? []) listener(payload);
  }
}
