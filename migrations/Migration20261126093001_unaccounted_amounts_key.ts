import { Migration } from '@mikro-orm/migrations';

/**
 * Several amounts under one end-to-end id, each of which blocks payments. Contract step: release
 * 1.2.0 does not know the table.
 */
export class Migration20261126093001_unaccounted_amounts_key extends Migration {
  override name = 'Migration20261126093001_unaccounted_amounts_key';

  override up(): void {
    this.addSql(
      `alter table "pix_unaccounted_lines" drop constraint "pix_unaccounted_lines_pkey", add constraint "pix_unaccounted_lines_pkey" primary key using index "pix_unaccounted_lines_amounts";`,
    );
  }

  override down(): void {
    this.addSql(
      `alter table "pix_unaccounted_lines" drop constraint "pix_unaccounted_lines_pkey", add primary key ("end_to_end");`,
    );
  }
}
