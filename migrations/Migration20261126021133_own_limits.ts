import { Migration } from '@mikro-orm/migrations';

/**
 * The limits that customers set themselves. An instance of the previous release does not apply them
 * to its sends.
 */
export class Migration20261126021133_own_limits extends Migration {
  override name = 'Migration20261126021133_own_limits';

  override up(): void {
    this.addSql(
      `alter table "pix_limits" add "own_day" numeric(15,2) null, add "own_day_next" numeric(15,2) null, add "own_day_next_at" timestamptz(3) null, add "own_night" numeric(15,2) null, add "own_night_next" numeric(15,2) null, add "own_night_next_at" timestamptz(3) null;`,
    );
    this.addSql(
      `alter table "pix_limits" add constraint "pix_limits_own_amounts" check (own_day >= 0 and own_day_next >= 0 and own_night >= 0 and own_night_next >= 0) not valid;`,
    );
  }

  override down(): void {
    this.addSql(`alter table "pix_limits" drop constraint "pix_limits_own_amounts";`);
    this.addSql(
      `alter table "pix_limits" drop column "own_day", drop column "own_day_next", drop column "own_day_next_at", drop column "own_night", drop column "own_night_next", drop column "own_night_next_at";`,
    );
  }
}
