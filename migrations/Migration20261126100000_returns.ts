import { Migration } from '@mikro-orm/migrations';

/**
 * Returns: refunds that the user makes, with an idempotency key. Triggers keep the sum of the open
 * ones at the transaction that is returned. The previous release makes none, and counts those that
 * are only reported as before.
 */
export class Migration20261126100000_returns extends Migration {
  override name = 'Migration20261126100000_returns';

  override up(): void {
    this.addSql(
      `alter table "pix_transactions" add "refunding_amount" numeric(15,2) null;`,
    );
    this.addSql(
      `alter table "pix_transactions" add constraint "pix_transactions_returned_at_most" check ((refunding_amount is null or refunding_amount > 0) and coalesce(refunded_amount, 0) + coalesce(refunding_amount, 0) <= amount) not valid;`,
    );
    this.addSql(
      `alter table "pix_transactions" drop constraint "pix_transactions_claim_keyed", add constraint "pix_transactions_claim_keyed" check ((idempotency_key is null) = (fingerprint is null) and (idempotency_key is null or not operation in ('RECEIVED', 'REFUND_IN')) and (idempotency_key is not null or not operation in ('SEND', 'CHARGE'))) not valid;`,
    );
    this.addSql(
      `alter table "pix_transactions" drop constraint "pix_transactions_corrected_completed", add constraint "pix_transactions_corrected_completed" check (corrected_at is null and paid_again_by is null or status = 'COMPLETED' and operation in ('CHARGE', 'SEND', 'REFUND_OUT')) not valid;`,
    );
    this.addSql(
      `create or replace function "pix_transactions_pix_transactions_return_opened_fn"() returns trigger as \$\$ begin update pix_transactions set refunding_amount = nullif(coalesce(refunding_amount, 0) + new.amount, 0), updated_at = new.updated_at where id = new.original_id; return null; end; \$\$ language plpgsql;`,
    );
    this.addSql(
      `create trigger "pix_transactions_return_opened" AFTER INSERT on "pix_transactions" for each ROW
  when (new.operation = 'REFUND_OUT' and new.status = 'PROCESSING') execute function "pix_transactions_pix_transactions_return_opened_fn"();`,
    );
    this.addSql(
      `create or replace function "pix_transactions_pix_transactions_return_made_fn"() returns trigger as \$\$ begin update pix_transactions set refunding_amount = nullif(coalesce(refunding_amount, 0) - new.amount, 0), refunded_amount = nullif(coalesce(refunded_amount, 0) + new.amount, 0), updated_at = new.updated_at where id = new.original_id; return null; end; \$\$ language plpgsql;`,
    );
    this.addSql(
      `create trigger "pix_transactions_return_made" AFTER UPDATE on "pix_transactions" for each ROW
  when (new.operation = 'REFUND_OUT' and old.status = 'PROCESSING' and new.status = 'COMPLETED') execute function "pix_transactions_pix_transactions_return_made_fn"();`,
    );
    this.addSql(
      `create or replace function "pix_transactions_pix_transactions_return_failed_fn"() returns trigger as \$\$ begin update pix_transactions set refunding_amount = nullif(coalesce(refunding_amount, 0) - new.amount, 0), updated_at = new.updated_at where id = new.original_id; return null; end; \$\$ language plpgsql;`,
    );
    this.addSql(
      `create trigger "pix_transactions_return_failed" AFTER UPDATE on "pix_transactions" for each ROW
  when (new.operation = 'REFUND_OUT' and old.status = 'PROCESSING' and new.status = 'FAILED') execute function "pix_transactions_pix_transactions_return_failed_fn"();`,
    );
    this.addSql(
      `create or replace function "pix_transactions_pix_transactions_return_corrected_fn"() returns trigger as \$\$ begin update pix_transactions set refunded_amount = nullif(coalesce(refunded_amount, 0) + new.amount, 0), updated_at = new.updated_at where id = new.original_id; return null; end; \$\$ language plpgsql;`,
    );
    this.addSql(
      `create trigger "pix_transactions_return_corrected" AFTER UPDATE on "pix_transactions" for each ROW
  when (new.operation = 'REFUND_OUT' and old.status = 'FAILED' and new.status = 'COMPLETED') execute function "pix_transactions_pix_transactions_return_corrected_fn"();`,
    );
  }

  /** Refused where returns are stored: the earlier schema has no place for them. */
  override down(): void {
    for (const name of ['opened', 'made', 'failed', 'corrected']) {
      this.addSql(
        `drop trigger if exists "pix_transactions_return_${name}" on "pix_transactions";`,
      );
      this.addSql(
        `drop function if exists "pix_transactions_pix_transactions_return_${name}_fn"();`,
      );
    }
    this.addSql(
      `alter table "pix_transactions" drop constraint "pix_transactions_returned_at_most";`,
    );
    this.addSql(
      `alter table "pix_transactions" drop constraint "pix_transactions_claim_keyed", add constraint "pix_transactions_claim_keyed" check ((operation in ('RECEIVED', 'REFUND_IN', 'REFUND_OUT')) = (idempotency_key is null) and (operation in ('RECEIVED', 'REFUND_IN', 'REFUND_OUT')) = (fingerprint is null));`,
    );
    this.addSql(
      `alter table "pix_transactions" drop constraint "pix_transactions_corrected_completed", add constraint "pix_transactions_corrected_completed" check (corrected_at is null and paid_again_by is null or status = 'COMPLETED' and operation in ('SEND', 'CHARGE'));`,
    );
    this.addSql(`alter table "pix_transactions" drop column "refunding_amount";`);
  }
}
