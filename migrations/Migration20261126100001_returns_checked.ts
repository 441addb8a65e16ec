import { OnlineMigration } from '../src/db/online-migration.ts';

const constraints = ['returned_at_most', 'claim_keyed', 'corrected_completed'];

/** The constraints of returns hold for what was stored before, too. */
export class Migration20261126100001_returns_checked extends OnlineMigration {
  override name = 'Migration20261126100001_returns_checked';

  override up(): void {
    for (const name of constraints) {
      this.addLongSql(
        `alter table "pix_transactions" validate constraint "pix_transactions_${name}"`,
      );
    }
  }

  override down(): void {
    // The constraints are dropped by the migration before.
  }
}
