import { OnlineMigration } from '../src/db/online-migration.ts';

/** The index of the next migration. */
export class Migration20261126093000_unaccounted_amounts extends OnlineMigration {
  override name = 'Migration20261126093000_unaccounted_amounts';

  override async up(): Promise<void> {
    await this.createIndex({
      name: 'pix_unaccounted_lines_amounts',
      on: '"pix_unaccounted_lines" ("end_to_end", "user_id", "amount")',
      unique: true,
    });
  }

  override down(): void {
    this.dropIndex('pix_unaccounted_lines_amounts');
  }
}
