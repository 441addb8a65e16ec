/**
 * MikroORM's driver for PostgreSQL, with bound parameters. MikroORM 7 writes values into the text
 * of a statement, where `pg_stat_activity` and the server's log show names, CPFs and password
 * hashes. Here each value becomes `$1`, `$2`, … and is sent separately.
 */
import {
  PostgreSqlConnection,
  PostgreSqlDriver,
  PostgreSqlPlatform,
  type Configuration,
} from '@mikro-orm/postgresql';
import { CompiledQuery, type Kysely } from 'kysely';

/** Writes placeholders for the values of a statement that is being prepared. */
class BoundPlatform extends PostgreSqlPlatform {
  #values: unknown[] | null = null;

  /** Calls `prepare`, which formats one statement, and collects its values. */
  collect<Prepared>(prepare: () => Prepared): { prepared: Prepared; values: readonly unknown[] } {
    const values: unknown[] = [];
    this.#values = values;
    try {
      return { prepared: prepare(), values };
    } finally {
      this.#values = null;
    }
  }

  override escape(value: unknown): string {
    if (this.#values === null) return super.escape(value);
    if (Array.isArray(value)) return value.map((one) => this.escape(one)).join(', ');
    this.#values.push(value instanceof Date ? value.toISOString() : (value ?? null));
    return `$${this.#values.length}`;
  }
}

class BoundConnection extends PostgreSqlConnection {
  /** A text that already has `$1`, `$2`, … is sent unchanged. */
  override async execute<Result>(
    query: Parameters<PostgreSqlConnection['execute']>[0],
    params: unknown[] | object = [],
    ...[method = 'all', transaction]: ExecuteOptions
  ): Promise<Result> {
    await this.ensureConnection();
    const { text, values } =
      typeof query === 'string' && Array.isArray(params) && /\$\d/.test(query)
        ? { text: query, values: params }
        : this.#bind(query, params);
    return this.executeQuery(text, async () => {
      const client: Kysely<unknown> = transaction ?? this.getClient();
      const result = await client.executeQuery(CompiledQuery.raw(text, [...values]));
      return this.transformRawResult<Result>(result, method);
    });
  }

  #bind(query: unknown, params: unknown): { text: string; values: readonly unknown[] } {
    const { prepared, values } = (this.platform as BoundPlatform).collect(() =>
      (this as unknown as Preparing).prepareQuery(query, params),
    );
    return { text: prepared.formatted, values };
  }
}

type ExecuteOptions = [method?: 'all' | 'get' | 'run', transaction?: Kysely<unknown>];

/** A private method of the base class that formats a statement. */
interface Preparing {
  prepareQuery(query: unknown, params: unknown): { readonly formatted: string };
}

/** The driver for `MikroORM.init`. */
export class BoundDriver extends PostgreSqlDriver {
  constructor(config: Configuration) {
    super(config);
    Object.assign(this, {
      platform: new BoundPlatform(),
      connection: new BoundConnection(config),
    });
  }
}
