import { Migration } from '@mikro-orm/migrations';

export class Migration20261123034215_security_events extends Migration {

  override name = 'Migration20261123034215_security_events';

  override up(): void | Promise<void> {
    this.addSql(`create table "security_events" ("id" bigserial primary key, "at" timestamptz(3) not null, "kind" text not null, "user_id" int null, "identity" text not null, "address" text null);`);
    this.addSql(`create index "security_events_identity" on "security_events" ("identity");`);
    this.addSql(`create index "security_events_at" on "security_events" ("at");`);

    this.addSql(`alter table "security_events" add constraint "security_events_kind_known" check (kind in ('login', 'login_refused', 'password_reset', 'session_revoked', 'user_disabled', 'user_enabled'));`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "security_events" cascade;`);
  }

}
