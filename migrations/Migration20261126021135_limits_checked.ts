import { OnlineMigration } from '../src/db/online-migration.ts';

/** The checks of customers' limits, and of the kinds of security events, hold for every row. */
export class Migration20261126021135_limits_checked extends OnlineMigration {
  override name = 'Migration20261126021135_limits_checked';

  override up(): void {
    this.addLongSql(`alter table "pix_limits" validate constraint "pix_limits_own_amounts"`);
    this.addLongSql(
      `alter table "security_events" validate constraint "security_events_kind_known"`,
    );
  }

  override down(): void {}
}
