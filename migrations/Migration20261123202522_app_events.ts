import { Migration } from '@mikro-orm/migrations';

/** The outbox of the events for the app's own backend. */
export class Migration20261123202522_app_events extends Migration {
  override name = 'Migration20261123202522_app_events';

  override up(): void {
    this.addSql(
      `create table "app_events" ("id" text not null, "type" text not null, "user_id" int not null, "transaction_id" uuid null, "operation" text null, "status" text not null, "at" timestamptz(3) not null, "delivered_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(`create index "app_events_at" on "app_events" ("at", "id");`);
    this.addSql(
      `create index "app_events_delivered" on "app_events" ("delivered_at") where "delivered_at" is not null;`,
    );
  }

  override down(): void {
    this.addSql(`drop table if exists "app_events" cascade;`);
  }
}
