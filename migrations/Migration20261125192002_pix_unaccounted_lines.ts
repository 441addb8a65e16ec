import { Migration } from '@mikro-orm/migrations';

/** Payments in a statement, made while commits were lost, that no transaction records. */
export class Migration20261125192002_pix_unaccounted_lines extends Migration {
  override name = 'Migration20261125192002_pix_unaccounted_lines';

  override up(): void {
    this.addSql(
      `create table "pix_unaccounted_lines" ("end_to_end" text not null, "user_id" int not null, "amount" numeric(15,2) not null, "found_at" timestamptz(3) not null, "accounted_at" timestamptz(3) null, primary key ("end_to_end"));`,
    );
    this.addSql(
      `create index "pix_unaccounted_lines_blocking" on "pix_unaccounted_lines" ("user_id", "amount") where "accounted_at" is null;`,
    );
    this.addSql(
      `alter table "pix_unaccounted_lines" add constraint "pix_unaccounted_lines_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete restrict;`,
    );
    this.addSql(
      `alter table "pix_unaccounted_lines" add constraint "pix_unaccounted_lines_amount_positive" check (amount > 0);`,
    );
  }

  override down(): void {
    this.addSql(`drop table if exists "pix_unaccounted_lines" cascade;`);
  }
}
