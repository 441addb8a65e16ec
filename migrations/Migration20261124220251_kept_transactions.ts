import { Migration } from '@mikro-orm/migrations';

/** No transaction is removed, whether it has a timeline or not. */
export class Migration20261124220251_kept_transactions extends Migration {
  override name = 'Migration20261124220251_kept_transactions';

  override up(): void {
    this.addSql(
      `create or replace function "pix_transactions_pix_transactions_kept_fn"() returns trigger as \$\$ begin raise exception 'a transaction is not removed' using errcode = 'check_violation'; end; \$\$ language plpgsql;`,
    );
    this.addSql(
      `create trigger "pix_transactions_kept" BEFORE DELETE on "pix_transactions" for each ROW execute function "pix_transactions_pix_transactions_kept_fn"();`,
    );
  }

  override down(): void {
    this.addSql(`drop trigger if exists "pix_transactions_kept" on "pix_transactions";`);
    this.addSql(`drop function if exists "pix_transactions_pix_transactions_kept_fn"();`);
  }
}
