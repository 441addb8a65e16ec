import { Migration } from '@mikro-orm/migrations';

/** The end of a return wakes the events of refunds that wait for it. Only the functions change. */
export class Migration20261127070000_returns_wake extends Migration {
  override name = 'Migration20261127070000_returns_wake';

  override up(): void {
    this.addSql(`create or replace function "pix_transactions_pix_transactions_return_made_fn"() returns trigger as \$\$ begin update pix_transactions set refunding_amount = nullif(coalesce(refunding_amount, 0) - new.amount, 0), refunded_amount = nullif(coalesce(refunded_amount, 0) + new.amount, 0), updated_at = new.updated_at where id = new.original_id; perform wake_events(array[end_to_end], new.updated_at) from pix_transactions where id = new.original_id; return null; end; \$\$ language plpgsql;`);
    this.addSql(`create or replace function "pix_transactions_pix_transactions_return_failed_fn"() returns trigger as \$\$ begin update pix_transactions set refunding_amount = nullif(coalesce(refunding_amount, 0) - new.amount, 0), updated_at = new.updated_at where id = new.original_id; perform wake_events(array[end_to_end], new.updated_at) from pix_transactions where id = new.original_id; return null; end; \$\$ language plpgsql;`);
  }

  override down(): void {
    this.addSql(`create or replace function "pix_transactions_pix_transactions_return_made_fn"() returns trigger as \$\$ begin update pix_transactions set refunding_amount = nullif(coalesce(refunding_amount, 0) - new.amount, 0), refunded_amount = nullif(coalesce(refunded_amount, 0) + new.amount, 0), updated_at = new.updated_at where id = new.original_id; return null; end; \$\$ language plpgsql;`);
    this.addSql(`create or replace function "pix_transactions_pix_transactions_return_failed_fn"() returns trigger as \$\$ begin update pix_transactions set refunding_amount = nullif(coalesce(refunding_amount, 0) - new.amount, 0), updated_at = new.updated_at where id = new.original_id; return null; end; \$\$ language plpgsql;`);
  }
}
