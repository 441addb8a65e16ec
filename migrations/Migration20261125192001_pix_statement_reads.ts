import { Migration } from '@mikro-orm/migrations';

/** The loss of commits for which a user's statement was read whole. */
export class Migration20261125192001_pix_statement_reads extends Migration {
  override name = 'Migration20261125192001_pix_statement_reads';

  override up(): void {
    this.addSql(
      `create table "pix_statement_reads" ("user_id" int not null, "pause_id" int not null, "read_since" timestamptz(3) not null, "read_at" timestamptz(3) not null, primary key ("user_id"));`,
    );
    this.addSql(
      `alter table "pix_statement_reads" add constraint "pix_statement_reads_user_id_foreign" foreign key ("user_id") references "users" ("id") on update cascade on delete cascade;`,
    );
    this.addSql(
      `alter table "pix_statement_reads" add constraint "pix_statement_reads_pause_id_foreign" foreign key ("pause_id") references "pix_pauses" ("id") on delete restrict;`,
    );
  }

  override down(): void {
    this.addSql(`drop table if exists "pix_statement_reads" cascade;`);
  }
}
