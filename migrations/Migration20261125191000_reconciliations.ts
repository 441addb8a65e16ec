import { Migration } from '@mikro-orm/migrations';

/**
 * The reconciliation of each user and day, and the differences that it has found. Both tables are
 * new.
 */
export class Migration20261125191000_reconciliations extends Migration {

  override name = 'Migration20261125191000_reconciliations';

  override up(): void {
    this.addSql(`create table "reconciliation_differences" ("id" bigserial primary key, "day" date not null, "user_id" int not null, "kind" text not null, "reason" text not null, "subject" text not null, "transaction_id" uuid null, "end_to_end" text null, "amount" numeric(15,2) null, "stored_amount" numeric(15,2) null, "found_at" timestamptz(3) not null, "seen_at" timestamptz(3) not null, "closed_at" timestamptz(3) null, "closed_as" text null);`);
    this.addSql(`create index "reconciliation_differences_open" on "reconciliation_differences" ("found_at", "id") where "closed_at" is null;`);
    this.addSql(`alter table "reconciliation_differences" add constraint "reconciliation_differences_once" unique ("user_id", "kind", "subject");`);

    this.addSql(`create table "reconciliations" ("day" date not null, "user_id" int not null, "state" text not null, "reason" text null, "tried_at" timestamptz(3) not null, "read_at" timestamptz(3) null, "lines" int not null default 0, "settled" int not null default 0, "differences" int not null default 0, primary key ("day", "user_id"));`);
    this.addSql(`create index "reconciliations_unread" on "reconciliations" ("user_id", "day") where "state" = 'UNREAD';`);

    this.addSql(`alter table "reconciliation_differences" add constraint "reconciliation_differences_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade;`);
    this.addSql(`alter table "reconciliation_differences" add constraint "reconciliation_differences_kind_known" check (kind in ('MISSING_HERE', 'MISSING_THERE', 'DIFFERENT_AMOUNT', 'OTHER_STATUS', 'UNPROVEN'));`);
    this.addSql(`alter table "reconciliation_differences" add constraint "reconciliation_differences_closed" check ((closed_at is null) = (closed_as is null) and closed_as in ('EXPLAINED', 'ACCEPTED'));`);

    this.addSql(`alter table "reconciliations" add constraint "reconciliations_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade;`);
    this.addSql(`alter table "reconciliations" add constraint "reconciliations_state_known" check (state in ('READ', 'UNREAD') and (state = 'READ') = (read_at is not null));`);
    this.addSql(`alter table "reconciliations" add constraint "reconciliations_reason_known" check (reason in ('NO_SESSION', 'TOKEN_REFUSED', 'NOT_WHOLE', 'UNAVAILABLE'));`);
  }

  override down(): void {
    this.addSql(`drop table if exists "reconciliation_differences" cascade;`);
    this.addSql(`drop table if exists "reconciliations" cascade;`);
  }

}
