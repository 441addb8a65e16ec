import { Migration } from '@mikro-orm/migrations';

/** The limits of a user's sends, and the count of their reservations. */
export class Migration20261123193018_pix_limits extends Migration {
  override name = 'Migration20261123193018_pix_limits';

  override up(): void {
    this.addSql(
      `create table "pix_limits" ("user_id" int not null, "version" int not null default 0, "day" numeric(15,2) null, "day_next" numeric(15,2) null, "day_next_at" timestamptz(3) null, "night" numeric(15,2) null, "night_next" numeric(15,2) null, "night_next_at" timestamptz(3) null, "night_hour" smallint not null default 20, "night_hour_next" smallint not null default 20, "night_hour_next_at" timestamptz(3) null, primary key ("user_id"));`,
    );
    this.addSql(
      `alter table "pix_limits" add constraint "pix_limits_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade;`,
    );
    this.addSql(
      `alter table "pix_limits" add constraint "pix_limits_amounts" check (day >= 0 and day_next >= 0 and night >= 0 and night_next >= 0);`,
    );
    this.addSql(
      `alter table "pix_limits" add constraint "pix_limits_hours" check (night_hour in (20, 22) and night_hour_next in (20, 22));`,
    );
  }

  override down(): void {
    this.addSql(`drop table if exists "pix_limits" cascade;`);
  }
}
