import { OnlineMigration } from '../src/db/online-migration.ts';

const constraints = [
  'claim_keyed',
  'operation_known',
  'expiry_of_charge',
  'refund_identified',
  'refunded_at_most',
];

/** How expired charges and the refunds of a transaction are found. */
export class Migration20261123193622_refunds_and_expiry_checked extends OnlineMigration {
  override name = 'Migration20261123193622_refunds_and_expiry_checked';

  override async up(): Promise<void> {
    await this.createIndex({
      name: 'pix_transactions_expiring',
      on: `"pix_transactions" ("expires_at") where "status" = 'PROCESSING' and "expires_at" is not null`,
    });
    await this.createIndex({
      name: 'pix_transactions_refunds',
      on: '"pix_transactions" ("original_id") where "original_id" is not null',
    });
    for (const name of constraints) {
      this.addLongSql(
        `alter table "pix_transactions" validate constraint "pix_transactions_${name}"`,
      );
    }
  }

  override down(): void {
    this.dropIndex('pix_transactions_refunds');
    this.dropIndex('pix_transactions_expiring');
  }
}
