import { OnlineMigration } from '../src/db/online-migration.ts';

/**
 * The indexes of open transactions, which the table `pix_open` replaces.
 *
 * Contract step: no statement of release 1.2.0 depends on them. Beside the new schema its sweep and
 * its metrics read all transactions; what a customer or the provider waits for does not use these
 * indexes.
 */
export class Migration20261126023002_pix_open_only extends OnlineMigration {
  override name = 'Migration20261126023002_pix_open_only';

  override up(): void {
    this.dropIndex('pix_transactions_unsettled');
    this.dropIndex('pix_transactions_expiring');
  }

  override async down(): Promise<void> {
    await this.createIndex({
      name: 'pix_transactions_expiring',
      on: `"pix_transactions" ("expires_at") where "status" = 'PROCESSING' and "expires_at" is not null`,
    });
    await this.createIndex({
      name: 'pix_transactions_unsettled',
      on: `"pix_transactions" ("created_at") where "status" = 'PROCESSING' and "qr_code" is null`,
    });
  }
}
