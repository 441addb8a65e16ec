import { OnlineMigration } from '../src/db/online-migration.ts';

/** A reservation finds the sends of a code, which are few among those of a user. */
export class Migration20261126110001_paid_codes_indexed extends OnlineMigration {
  override name = 'Migration20261126110001_paid_codes_indexed';

  override async up(): Promise<void> {
    await this.createIndex({
      name: 'pix_transactions_code',
      on: `"pix_transactions" ("user_id", "code_digest") where "code_digest" is not null`,
    });
    this.addLongSql(
      `alter table "pix_transactions" validate constraint "pix_transactions_code_of_send"`,
    );
  }

  override down(): void {
    this.dropIndex('pix_transactions_code');
  }
}
