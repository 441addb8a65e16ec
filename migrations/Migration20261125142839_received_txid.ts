import { Migration } from '@mikro-orm/migrations';

/** The provider's id of a PIX that was received without an end-to-end id. */
export class Migration20261125142839_received_txid extends Migration {
  override name = 'Migration20261125142839_received_txid';

  override up(): void {
    this.addSql(`alter table "pix_transactions" add "received_txid" text null;`);
  }

  override down(): void {
    this.addSql(`alter table "pix_transactions" drop column "received_txid";`);
  }
}
