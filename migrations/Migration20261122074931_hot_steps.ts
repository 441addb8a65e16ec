import { Migration } from '@mikro-orm/migrations';

/**
 * Written by hand: the tool does not see that an index of the same name is another one. What changes
 * when a payment is accepted is in no index of its row any more.
 *
 * Payments lock the tables in this order too. A statement may take 30 s: the timeline is told the
 * ids in sixteen parts.
 */
export class Migration20261122074931_hot_steps extends Migration {

  override name = 'Migration20261122074931_hot_steps';

  /** Which entry of a stored timeline the provider's id came with is not known: it is told last. */
  override up(): void | Promise<void> {
    this.addSql(`lock table "pix_transactions", "pix_timeline" in access exclusive mode;`);
    this.addSql(`alter table "pix_timeline" add "provider_txid" text null;`);
    this.addSql(`alter table "pix_timeline" disable trigger "pix_timeline_append_only";`);
    for (const digit of '0123456789abcdef') this.addSql(idsToldLast(digit));
    this.addSql(`alter table "pix_timeline" enable trigger "pix_timeline_append_only";`);
    this.addSql(`create index "pix_timeline_provider_txid" on "pix_timeline" ("provider_txid") where "provider_txid" is not null;`);

    this.addSql(`drop index "pix_transactions_provider_txid";`);
    this.addSql(`drop index "pix_transactions_unsettled";`);
    this.addSql(`create index "pix_transactions_unsettled" on "pix_transactions" ("created_at") where "status" = 'PROCESSING' and "qr_code" is null;`);
    this.addSql(`drop index "pix_transactions_statement";`);
    this.addSql(`create index "pix_transactions_statement" on "pix_transactions" ("user_id", "created_at", "id") where "created_at" is not null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`lock table "pix_transactions", "pix_timeline" in access exclusive mode;`);
    this.addSql(`drop index "pix_transactions_statement";`);
    this.addSql(`create index "pix_transactions_statement" on "pix_transactions" ("user_id", "created_at", "id");`);
    this.addSql(`drop index "pix_transactions_unsettled";`);
    this.addSql(`create index "pix_transactions_unsettled" on "pix_transactions" ("phase", "updated_at") where "status" = 'PROCESSING';`);
    this.addSql(`create index "pix_transactions_provider_txid" on "pix_transactions" ("provider_txid") where "provider_txid" is not null;`);

    this.addSql(`drop index "pix_timeline_provider_txid";`);
    this.addSql(`alter table "pix_timeline" drop column "provider_txid";`);
  }

}

/** @param digit the last one of the transactions' ids. */
function idsToldLast(digit: string): string {
  return `
    update "pix_timeline" entry set "provider_txid" = told."provider_txid"
      from (select t."provider_txid", t."id" as "transaction_id", max(l."id") as "last_id"
              from "pix_transactions" t join "pix_timeline" l on l."transaction_id" = t."id"
             where t."provider_txid" is not null and right(t."id"::text, 1) = '${digit}'
             group by t."id") told
     where entry."transaction_id" = told."transaction_id" and entry."id" = told."last_id";`;
}
