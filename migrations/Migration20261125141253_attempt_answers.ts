import { Migration } from '@mikro-orm/migrations';

/** The status and the code of the provider's response to each attempt at a payment. */
export class Migration20261125141253_attempt_answers extends Migration {
  override name = 'Migration20261125141253_attempt_answers';

  override up(): void {
    this.addSql(
      `alter table "pix_timeline" add "http_status" int null, add "provider_code" text null;`,
    );
  }

  override down(): void {
    this.addSql(
      `alter table "pix_timeline" drop column "http_status", drop column "provider_code";`,
    );
  }
}
