/**
 * LISTEN on one separate connection, which is reopened when it is lost. Notifications that are
 * sent meanwhile are lost, so every listener is called at the loss and at the reconnection, and
 * reads the database itself. A heartbeat detects a connection that has gone silent.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { nextTurn, pause, type Clock } from '../clock.ts';
import { connectionAddress } from './tls.ts';

type Listener = (payload: string) => void;

const retryDelayMs = 1_000;

/** With the deadline it bounds how long a silent connection remains undetected. */
const heartbeatMs = 3_000;

export interface NotificationsOptions {
  readonly url: string;
  readonly clock: Clock;
  /** How long the server may take to respond, in ms of real time, not of the clock. */
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
  /** Open, or being opened. */
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
   * Resolves when notifications arrive, or when the server cannot be reached: the listener is then
   * called when they do.
   * @param channel a constant name: it is part of the statement.
   * @returns a function that removes the listener.
   * @throws Error after `close`.
   */
  async listen(channel: string, listener: Listener): Promise<() => Promise<void>> {
    if (this.#closed.signal.aborted) throw new Error('the database is closed');
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners);
    listeners.add(listener);
    if (this.#state === 'new') await (this.#firstAttempt ??= this.#connect());
    // The next connection listens to every channel, and calls every listener.
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
      // `#lost` has scheduled the next attempt.
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

interface ListenConnectionOptions {
  readonly url: string;
  /** How long the server may take to accept the connection, or to run a statement, in ms. */
  readonly deadlineMs: number;
  readonly onNotification: (channel: string, payload: string) => void;
  /** Called once, when it has ended or has not responded in time; it is then closed. */
  readonly onLost: () => void;
}

/**
 * One connection to a PostgreSQL server that only listens; a reconnection is a new object. Every
 * statement has a deadline, because a network that fails silently (half-open TCP) ends nothing.
 */
class ListenConnection {
  readonly #client: pg.Client;
  readonly #onLost: () => void;
  /** The channel of its heartbeats. */
  readonly #heartbeats = `ponte_heartbeat_${randomBytes(8).toString('hex')}`;
  /** The channels that it listens to. */
  readonly #channels = new Map<string, Promise<void>>();
  #heard = false;
  #isClosed = false;

  constructor({ url, deadlineMs, onNotification, onLost }: ListenConnectionOptions) {
    this.#onLost = onLost;
    this.#client = new pg.Client({
      ...connectionAddress(url),
      application_name: 'ponte-listen',
      keepAlive: true,
      connectionTimeoutMillis: deadlineMs,
      query_timeout: deadlineMs,
    });
    this.#client.on('error', () => this.#lose());
    this.#client.on('end', () => this.#lose());
    this.#client.on('notification', ({ channel, payload = '' }) => {
      if (channel === this.#heartbeats) this.#heard = true;
      else onNotification(channel, payload);
    });
  }

  /**
   * Connects, and listens to channels.
   * @throws Error when it is lost; `onLost` has been called.
   */
  async open(channels: Iterable<string>): Promise<void> {
    await this.#orLose(this.#client.connect());
    await this.#orLose(this.#client.query(`listen ${this.#heartbeats}`));
    for (const channel of channels) await this.listen(channel);
  }

  /**
   * Listens to a channel. All its listeners share one LISTEN, and wait until it has taken effect.
   * @throws Error when the connection is lost.
   */
  listen(channel: string): Promise<void> {
    const listening =
      this.#channels.get(channel) ?? this.#orLose(this.#client.query(`listen ${channel}`));
    this.#channels.set(channel, listening);
    return listening;
  }

  /**
   * Sends a notification to this connection, and checks that it arrives. A response to a statement
   * is not sufficient: a pooler that shares sessions responds, but delivers no notification.
   * @throws Error when the connection is lost.
   */
  beat(): Promise<void> {
    this.#heard = false;
    const beat = async (): Promise<void> => {
      await this.#client.query(`notify ${this.#heartbeats}`);
      // The server sends a session its own notifications before it is ready for the next statement.
      if (!this.#heard) throw new Error('notifications do not arrive');
    };
    return this.#orLose(beat());
  }

  /** Closes it without waiting for the server. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // It sends the termination message, and is then destroyed in any case.
    this.#client.end().catch(() => undefined);
    void nextTurn().then(() => this.#client.connection.stream.destroy());
  }

  async #orLose(work: Promise<unknown>): Promise<void> {
    try {
      await work;
    } catch (error) {
      this.#lose();
      throw error;
    }
  }

  #lose(): void {
    if (this.#isClosed) return;
    this.close();
    this.#onLost();
  }
}
