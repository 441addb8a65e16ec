import { Migration } from '@mikro-orm/migrations';

/** Counts the webhooks that are refused, by minute and reason: nothing else of them is stored. */
export class Migration20261125142846_refused_webhooks extends Migration {
  override name = 'Migration20261125142846_refused_webhooks';

  override up(): void {
    this.addSql(
      `create table "webhook_refusals" ("minute" timestamptz(3) not null, "reason" text not null, "refusals" int not null, "last_at" timestamptz(3) not null, primary key ("minute", "reason"));`,
    );
    this.addSql(
      `alter table "webhook_refusals" add constraint "webhook_refusals_reason_known" check (reason in ('wrong_secret', 'missing_secret', 'wrong_signature', 'missing_signature', 'stale_signature', 'wrong_address'));`,
    );
  }

  override down(): void {
    this.addSql(`drop table if exists "webhook_refusals" cascade;`);
  }
}
