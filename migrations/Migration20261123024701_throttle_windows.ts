import { OnlineMigration } from '../src/db/online-migration.ts';

/**
 * The end of each window, because some windows last longer than a minute. A window that the previous
 * release begins is over at once for this one.
 */
export class Migration20261123024701_throttle_windows extends OnlineMigration {
  override name = 'Migration20261123024701_throttle_windows';

  override async up(): Promise<void> {
    this.addSql(
      `alter table "throttle_counters" add column if not exists "expires_at" timestamptz(3) not null default '-infinity';`,
    );
    await this.createIndex({
      name: 'throttle_counters_expiry',
      on: '"throttle_counters" ("expires_at")',
    });
  }

  override down(): void {
    this.dropIndex('throttle_counters_expiry');
    this.addSql(`alter table "throttle_counters" drop column if exists "expires_at";`);
  }
}
