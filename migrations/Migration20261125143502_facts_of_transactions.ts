import { Migration } from '@mikro-orm/migrations';

/**
 * The facts of a transaction that has ended do not change, for every writer: amount, user, keys, ids and dates.
 */
export class Migration20261125143502_facts_of_transactions extends Migration {
  override name = 'Migration20261125143502_facts_of_transactions';

  override up(): void {
    this.addSql(
      `create or replace function "pix_transactions_pix_transactions_facts_fn"() returns trigger as \$\$ begin raise exception 'the facts of a transaction do not change' using errcode = 'check_violation'; end; \$\$ language plpgsql;`,
    );
    this.addSql(`create trigger "pix_transactions_facts" BEFORE UPDATE on "pix_transactions" for each ROW
  when (old.status <> 'PROCESSING' and (old.amount <> new.amount or old.user_id <> new.user_id or old.operation <> new.operation or old.created_at <> new.created_at or old.idempotency_key is distinct from new.idempotency_key or old.fingerprint is distinct from new.fingerprint or (old.pix_key is distinct from new.pix_key and new.pix_key is distinct from 'erased') or (old.status = 'COMPLETED' and old.end_to_end is not null and old.end_to_end is distinct from new.end_to_end) or (old.status = 'COMPLETED' and new.status = 'COMPLETED' and old.settled_at <> new.settled_at))) execute function "pix_transactions_pix_transactions_facts_fn"();`);
  }

  override down(): void {
    this.addSql(`drop trigger if exists "pix_transactions_facts" on "pix_transactions";`);
    this.addSql(`drop function if exists "pix_transactions_pix_transactions_facts_fn"();`);
  }
}
