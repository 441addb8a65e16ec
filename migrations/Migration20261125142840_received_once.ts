import { OnlineMigration } from '../src/db/online-migration.ts';

/** A received PIX without an end-to-end id is recorded once for each id of the provider. */
export class Migration20261125142840_received_once extends OnlineMigration {
  override name = 'Migration20261125142840_received_once';

  override async up(): Promise<void> {
    await this.createIndex({
      name: 'pix_transactions_received_unique',
      on: `"pix_transactions" ("user_id", "received_txid") where "received_txid" is not null`,
      unique: true,
    });
  }

  override down(): void {
    this.dropIndex('pix_transactions_received_unique');
  }
}
