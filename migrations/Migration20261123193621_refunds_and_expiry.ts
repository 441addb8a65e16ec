import { Migration } from '@mikro-orm/migrations';

/** When a charge expires, and refunds, which are transactions of their own. */
export class Migration20261123193621_refunds_and_expiry extends Migration {
  override name = 'Migration20261123193621_refunds_and_expiry';

  override up(): void {
    this.addSql(
      `alter table "pix_transactions" add "expires_at" timestamptz(3) null, add "original_id" uuid null, add "refunded_amount" numeric(15,2) null;`,
    );
    this.addSql(
      `alter table "pix_transactions" drop constraint "pix_transactions_claim_keyed", add constraint "pix_transactions_claim_keyed" check ((operation in ('RECEIVED', 'REFUND_IN', 'REFUND_OUT')) = (idempotency_key is null) and (operation in ('RECEIVED', 'REFUND_IN', 'REFUND_OUT')) = (fingerprint is null)) not valid;`,
    );
    this.addSql(
      `alter table "pix_transactions" drop constraint "pix_transactions_operation_known", add constraint "pix_transactions_operation_known" check (operation in ('SEND', 'CHARGE', 'RECEIVED', 'REFUND_IN', 'REFUND_OUT')) not valid;`,
    );
    this.addSql(
      `alter table "pix_transactions" add constraint "pix_transactions_expiry_of_charge" check (expires_at is null or operation = 'CHARGE') not valid;`,
    );
    this.addSql(
      `alter table "pix_transactions" add constraint "pix_transactions_refund_identified" check ((operation in ('REFUND_IN', 'REFUND_OUT')) = (original_id is not null) and (original_id is null or end_to_end is not null)) not valid;`,
    );
    this.addSql(
      `alter table "pix_transactions" add constraint "pix_transactions_refunded_at_most" check (refunded_amount > 0 and refunded_amount <= amount) not valid;`,
    );
  }

  /** Refused where refunds are stored: the earlier schema has no place for them. */
  override down(): void {
    this.addSql(
      `alter table "pix_transactions" drop constraint "pix_transactions_operation_known", add constraint "pix_transactions_operation_known" check (operation in ('SEND', 'CHARGE', 'RECEIVED'));`,
    );
    for (const name of ['expiry_of_charge', 'refund_identified', 'refunded_at_most']) {
      this.addSql(`alter table "pix_transactions" drop constraint "pix_transactions_${name}";`);
    }
    this.addSql(
      `alter table "pix_transactions" drop constraint "pix_transactions_claim_keyed", add constraint "pix_transactions_claim_keyed" check ((operation = 'RECEIVED') = (idempotency_key is null) and (operation = 'RECEIVED') = (fingerprint is null));`,
    );
    this.addSql(
      `alter table "pix_transactions" drop column "expires_at", drop column "original_id", drop column "refunded_amount";`,
    );
  }
}
