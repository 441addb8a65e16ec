/** Migrations whose steps take long on a large table, while the service reads and writes it. */
import { Migration } from '@mikro-orm/migrations';

/**
 * A migration that runs outside a transaction. After a failure the earlier steps remain applied,
 * and the migration is run again: each step must be repeatable.
 */
export abstract class OnlineMigration extends Migration {
  override isTransactional(): boolean {
    return false;
  }

  /**
   * Adds a statement that may take hours, such as `alter table … validate constraint …`. Use it for
   * statements whose locks allow reads and writes, because the lock time-out is longer, too.
   */
  protected addLongSql(sql: string): void {
    this.addSql(`set lock_timeout = '5min'`);
    this.addSql('set statement_timeout = 0');
    this.addSql(sql);
    this.addSql('reset statement_timeout');
    this.addSql('reset lock_timeout');
  }

  /**
   * Creates an index concurrently. The invalid index of a failed attempt is dropped first.
   * @param index.on what follows `on`: the table, the columns in parentheses, a condition.
   * @param index.unique whether no two rows may have the same values.
   */
  protected async createIndex(index: {
    readonly name: string;
    readonly on: string;
    readonly unique?: boolean;
  }): Promise<void> {
    const { name, on, unique = false } = index;
    const invalid: unknown[] = await this.execute(
      'select 1 from pg_index where indexrelid = to_regclass(?) and not indisvalid',
      [`"${name}"`],
    );
    if (invalid.length > 0) this.dropIndex(name);
    const kind = unique ? 'unique index' : 'index';
    this.addLongSql(`create ${kind} concurrently if not exists "${name}" on ${on}`);
  }

  /** Drops an index concurrently, if it exists. */
  protected dropIndex(name: string): void {
    this.addLongSql(`drop index concurrently if exists "${name}"`);
  }
}
