import { Migration } from '@mikro-orm/migrations';

/** The addresses that a user has logged in from: failures from them are counted apart. */
export class Migration20261123024700_login_addresses extends Migration {
  override name = 'Migration20261123024700_login_addresses';

  override up(): void {
    this.addSql(
      `create table "login_addresses" ("user_id" int not null, "address_digest" bytea not null, "last_login_at" timestamptz(3) not null, primary key ("user_id", "address_digest"));`,
    );
    this.addSql(`create index "login_addresses_age" on "login_addresses" ("last_login_at");`);
    this.addSql(
      `alter table "login_addresses" add constraint "login_addresses_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade;`,
    );
  }

  override down(): void {
    this.addSql(`drop table if exists "login_addresses" cascade;`);
  }
}
