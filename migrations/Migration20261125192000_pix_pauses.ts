import { Migration } from '@mikro-orm/migrations';

/** The times in which no send is paid, and the losses of commits. */
export class Migration20261125192000_pix_pauses extends Migration {
  override name = 'Migration20261125192000_pix_pauses';

  override up(): void {
    this.addSql(
      `create table "pix_pauses" ("id" serial primary key, "began_at" timestamptz(3) not null, "began_by" text not null, "reason" text not null, "lost_since" timestamptz(3) null, "ended_at" timestamptz(3) null, "ended_by" text null);`,
    );
    this.addSql(
      `create unique index "pix_pauses_one_open" on "pix_pauses" (("ended_at" is null)) where "ended_at" is null;`,
    );
    this.addSql(
      `alter table "pix_pauses" add constraint "pix_pauses_end_named" check ((ended_at is null) = (ended_by is null));`,
    );
  }

  override down(): void {
    this.addSql(`drop table if exists "pix_pauses" cascade;`);
  }
}
