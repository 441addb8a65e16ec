import { OnlineMigration } from '../src/db/online-migration.ts';

/** The check of corrections holds for every row, and operators find the corrected transactions. */
export class Migration20261125140132_corrections_checked extends OnlineMigration {
  override name = 'Migration20261125140132_corrections_checked';

  override async up(): Promise<void> {
    this.addLongSql(
      `alter table "pix_transactions" validate constraint "pix_transactions_corrected_completed"`,
    );
    await this.createIndex({
      name: 'pix_transactions_corrected',
      on: `"pix_transactions" ("corrected_at") where "corrected_at" is not null`,
    });
  }

  override down(): void {
    this.dropIndex('pix_transactions_corrected');
  }
}
