/** The database as the rest of the service sees it: statements, an entity manager, notifications. */
import type { EntityManager, MikroORM } from '@mikro-orm/postgresql';

/** One SQL statement. Named ones are prepared once per connection. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export interface Database {
  readonly kind: 'embedded' | 'postgresql';
  readonly orm: MikroORM;
  /** A fresh entity manager: one unit of work, never shared between requests. */
  em(): EntityManager;
  /** Runs one statement with bind parameters in one round trip, committed when it answers. */
  query<Row>(statement: Statement, parameters: readonly unknown[]): Promise<Row[]>;
  /**
   * Calls `listener` with the payload of every notification on a channel.
   * @returns what takes the listener back.
   */
  listen(channel: string, listener: (payload: string) => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}
