import { Migration } from '@mikro-orm/migrations';

/**
 * The guards of a transaction's end run after an update, no longer before it: PostgreSQL locks a row
 * for a trigger before an update, whatever its condition says, with a record in the log for each
 * step of a send and for its end.
 */
export class Migration20261126022000_guards_after extends Migration {
  override name = 'Migration20261126022000_guards_after';

  override up(): void {
    for (const guard of guards) this.addSql(guard('AFTER'));
  }

  override down(): void {
    for (const guard of guards) this.addSql(guard('BEFORE'));
  }
}

const guards: readonly ((timing: 'BEFORE' | 'AFTER') => string)[] = [
  (timing) => `create or replace trigger "pix_transactions_final_status" ${timing} UPDATE on "pix_transactions" for each ROW
  when (old.status in ('COMPLETED', 'FAILED') and new.status <> old.status and not (old.status = 'FAILED' and new.status = 'COMPLETED' and old.corrected_at is null and new.corrected_at is not null)) execute function "pix_transactions_pix_transactions_final_status_fn"();`,
  (timing) => `create or replace trigger "pix_transactions_facts" ${timing} UPDATE on "pix_transactions" for each ROW
  when (old.status <> 'PROCESSING' and (old.amount <> new.amount or old.user_id <> new.user_id or old.operation <> new.operation or old.created_at <> new.created_at or old.idempotency_key is distinct from new.idempotency_key or old.fingerprint is distinct from new.fingerprint or (old.pix_key is distinct from new.pix_key and new.pix_key is distinct from 'erased') or (old.status = 'COMPLETED' and old.end_to_end is not null and old.end_to_end is distinct from new.end_to_end) or (old.status = 'COMPLETED' and new.status = 'COMPLETED' and old.settled_at <> new.settled_at))) execute function "pix_transactions_pix_transactions_facts_fn"();`,
];
