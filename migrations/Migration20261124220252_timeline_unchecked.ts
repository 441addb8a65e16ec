import { Migration } from '@mikro-orm/migrations';

/**
 * The timeline has no foreign key: its check locked the transaction's row for each entry, which was
 * 11 % of what a send costs PostgreSQL.
 *
 * Contract step: no statement of release 1.1.0 needs it. Each adds entries only of transactions
 * that it has just stored or locked, and none removes a transaction.
 */
export class Migration20261124220252_timeline_unchecked extends Migration {
  override name = 'Migration20261124220252_timeline_unchecked';

  override up(): void {
    this.addSql(
      `alter table "pix_timeline" drop constraint "pix_timeline_transaction_id_foreign";`,
    );
  }

  override down(): void {
    this.addSql(
      `alter table "pix_timeline" add constraint "pix_timeline_transaction_id_foreign" foreign key ("transaction_id") references "pix_transactions" ("id") on delete restrict;`,
    );
  }
}
