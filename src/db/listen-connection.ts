/**
 * One connection to a PostgreSQL server that only listens. Everything that it is asked has a
 * deadline, because a network that fails silently (half-open TCP) answers nothing and ends nothing.
 */
import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { nextTurn } from '../clock.ts';
import { addressOf } from './tls.ts';

export interface ListenConnectionOptions {
  readonly url: string;
  /** How long the server may take to accept the connection, and to answer a statement, in ms. */
  readonly deadlineMs: number;
  readonly onNotification: (channel: string, payload: string) => void;
  /** Called once, when it has ended or has not answered in time; it is closed then. */
  readonly onLost: () => void;
}

/** Once it is lost or closed it is of no more use: the next attempt is another one. */
export class ListenConnection {
  readonly #client: pg.Client;
  readonly #onLost: () => void;
  /** A channel of this connection alone, which its heartbeats are sent on. */
  readonly #heartbeats = `ponte_heartbeat_${randomBytes(8).toString('hex')}`;
  /** What the server was asked to listen to. */
  readonly #channels = new Map<string, Promise<void>>();
  #heard = false;
  #isClosed = false;

  constructor({ url, deadlineMs, onNotification, onLost }: ListenConnectionOptions) {
    this.#onLost = onLost;
    this.#client = new pg.Client({
      ...addressOf(url),
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
   * Every listener of a channel waits for the one statement: before it, nothing is delivered.
   * @throws Error when the connection is lost.
   */
  listen(channel: string): Promise<void> {
    const listening =
      this.#channels.get(channel) ?? this.#orLose(this.#client.query(`listen ${channel}`));
    this.#channels.set(channel, listening);
    return listening;
  }

  /**
   * Notifies itself. That the server answers is not enough: behind a pooler that shares sessions it
   * answers, and no notification arrives.
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

  /** Closes it without waiting for an answer of the server. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // It says goodbye, and then goes in any case.
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
