import { Migration } from '@mikro-orm/migrations';

const kinds = `'login', 'login_refused', 'password_reset', 'session_revoked', 'user_disabled', 'user_enabled'`;

/** A customer's change of limits is a security event. */
export class Migration20261126021134_limits_changed extends Migration {
  override name = 'Migration20261126021134_limits_changed';

  override up(): void {
    this.addSql(`alter table "security_events" drop constraint "security_events_kind_known";`);
    this.addSql(
      `alter table "security_events" add constraint "security_events_kind_known" check (kind in (${kinds}, 'limits_changed')) not valid;`,
    );
  }

  /** Events that are stored are kept, so the older check does not hold for each of them. */
  override down(): void {
    this.addSql(`alter table "security_events" drop constraint "security_events_kind_known";`);
    this.addSql(
      `alter table "security_events" add constraint "security_events_kind_known" check (kind in (${kinds})) not valid;`,
    );
  }
}
