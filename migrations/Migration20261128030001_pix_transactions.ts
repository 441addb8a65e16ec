import { Migration } from '@mikro-orm/migrations';

/**
 * Columns, checks and triggers of the transactions. The checks accept what release 1.2.0 writes; a
 * later migration validates them. A row without an amount is a closed key; release 1.2.0 reads no
 * amount of one. The triggers are replaced in one transaction, so that each update is under the old
 * rules or under the new ones, whatever release makes it.
 *
 * Contract step: no statement of release 1.2.0 depends on the triggers by name; one trigger has the
 * rules of both that go.
 */
export class Migration20261128030001_pix_transactions extends Migration {

  override name = 'Migration20261128030001_pix_transactions';

  override up(): void {
    this.addSql(`alter table "pix_transactions" add "corrected_at" timestamptz(3) null, add "paid_again_by" uuid null, add "received_txid" text null, add "held_at" timestamptz(3) null, add "refunding_amount" numeric(15,2) null, add "code_digest" bytea null, add "code_payee_digest" bytea null, add "payee_class" text null, add "resumable_until" timestamptz(3) null;`);
    this.addSql(`alter table "pix_transactions" drop constraint "pix_transactions_claim_keyed", add constraint "pix_transactions_claim_keyed" check ((idempotency_key is null) = (fingerprint is null) and (idempotency_key is null or not operation in ('RECEIVED', 'REFUND_IN')) and (idempotency_key is not null or not operation in ('SEND', 'CHARGE'))) not valid;`);
    this.addSql(`alter table "pix_transactions" drop constraint "pix_transactions_refund_identified", add constraint "pix_transactions_refund_identified" check ((amount is not null and operation in ('REFUND_IN', 'REFUND_OUT')) = (original_id is not null) and (original_id is null or operation = 'REFUND_IN' or end_to_end is not null)) not valid;`);
    this.addSql(`alter table "pix_transactions" add constraint "pix_transactions_returned_at_most" check ((refunding_amount is null or refunding_amount > 0) and coalesce(refunded_amount, 0) + coalesce(refunding_amount, 0) <= amount) not valid;`);
    this.addSql(`alter table "pix_transactions" add constraint "pix_transactions_closed_key" check (amount is not null or (status = 'FAILED' and phase = 'SETTLED' and outcome = 'not_sent' and failure_code is not null and operation in ('SEND', 'REFUND_OUT') and idempotency_key is not null and end_to_end is null and original_id is null) is true) not valid;`);
    this.addSql(`alter table "pix_transactions" alter column "amount" drop not null;`);
    this.addSql(`alter table "pix_transactions" add constraint "pix_transactions_code_of_send" check (code_digest is null or operation = 'SEND') not valid;`);
    this.addSql(`alter table "pix_transactions" add constraint "pix_transactions_payee_class_of_send" check (payee_class is null or operation = 'SEND' and payee_class in ('person', 'company', 'own', 'unknown')) not valid;`);
    this.addSql(`alter table "pix_transactions" add constraint "pix_transactions_corrected_completed" check (corrected_at is null and paid_again_by is null or status = 'COMPLETED' and operation in ('CHARGE', 'SEND', 'REFUND_OUT')) not valid;`);

    this.addSql(`create or replace function "pix_transactions_pix_transactions_opened_fn"() returns trigger as \$\$ begin insert into pix_open (transaction_id, has_code, expires_at) values (new.id, new.qr_code is not null, new.expires_at); return null; end; \$\$ language plpgsql;`);
    this.addSql(`create trigger "pix_transactions_opened" AFTER INSERT on "pix_transactions" for each ROW
  when ((new.status = 'PROCESSING' and (new.qr_code is null or new.expires_at is not null))) execute function "pix_transactions_pix_transactions_opened_fn"();`);
    this.addSql(`create or replace function "pix_transactions_pix_transactions_return_opened_fn"() returns trigger as \$\$ begin update pix_transactions set refunding_amount = nullif(coalesce(refunding_amount, 0) + new.amount, 0), updated_at = new.updated_at where id = new.original_id; return null; end; \$\$ language plpgsql;`);
    this.addSql(`create trigger "pix_transactions_return_opened" AFTER INSERT on "pix_transactions" for each ROW
  when (new.operation = 'REFUND_OUT' and new.status = 'PROCESSING') execute function "pix_transactions_pix_transactions_return_opened_fn"();`);
    this.addSql(`create or replace trigger "pix_transactions_ended_new" AFTER INSERT on "pix_transactions" for each ROW
  when (new.status <> 'PROCESSING' and new.amount is not null and current_setting('ponte.app_events', true) = 'on') execute function "pix_transactions_pix_transactions_ended_new_fn"();`);

    this.addSql(`drop trigger if exists "pix_transactions_final_status" on "pix_transactions";`);
    this.addSql(`drop function if exists "pix_transactions_pix_transactions_final_status_fn"();`);
    this.addSql(`drop trigger if exists "pix_transactions_ended" on "pix_transactions";`);
    this.addSql(`drop function if exists "pix_transactions_pix_transactions_ended_fn"();`);
    this.addSql(`create or replace function "pix_transactions_pix_transactions_changed_fn"() returns trigger as \$\$ begin if old.status in ('COMPLETED', 'FAILED') and new.status <> old.status and not (old.status = 'FAILED' and new.status = 'COMPLETED' and old.corrected_at is null and new.corrected_at is not null) then raise exception 'a final transaction does not change' using errcode = 'check_violation'; end if; if old.status <> 'PROCESSING' and (old.amount is distinct from new.amount or old.user_id <> new.user_id or old.operation <> new.operation or old.created_at <> new.created_at or old.idempotency_key is distinct from new.idempotency_key or old.fingerprint is distinct from new.fingerprint or (old.pix_key is distinct from new.pix_key and new.pix_key is distinct from 'erased') or (old.status = 'COMPLETED' and old.end_to_end is not null and old.end_to_end is distinct from new.end_to_end) or (old.status = 'COMPLETED' and new.status = 'COMPLETED' and old.settled_at <> new.settled_at)) then raise exception 'the facts of a transaction do not change' using errcode = 'check_violation'; end if; if (new.status = 'PROCESSING' and (new.qr_code is null or new.expires_at is not null)) and (not (old.status = 'PROCESSING' and (old.qr_code is null or old.expires_at is not null)) or (old.qr_code is null) <> (new.qr_code is null) or old.expires_at is distinct from new.expires_at) then insert into pix_open (transaction_id, has_code, expires_at) values (new.id, new.qr_code is not null, new.expires_at) on conflict (transaction_id) do update set has_code = excluded.has_code, expires_at = excluded.expires_at; end if; if old.status = 'PROCESSING' and not (new.status = 'PROCESSING' and (new.qr_code is null or new.expires_at is not null)) then delete from pix_open where transaction_id = new.id; end if; if new.operation = 'REFUND_OUT' and old.status = 'PROCESSING' and new.status = 'COMPLETED' then update pix_transactions set refunding_amount = nullif(coalesce(refunding_amount, 0) - new.amount, 0), refunded_amount = nullif(coalesce(refunded_amount, 0) + new.amount, 0), updated_at = new.updated_at where id = new.original_id; perform wake_events(array[end_to_end], new.updated_at) from pix_transactions where id = new.original_id;  end if; if new.operation = 'REFUND_OUT' and old.status = 'PROCESSING' and new.status = 'FAILED' then update pix_transactions set refunding_amount = nullif(coalesce(refunding_amount, 0) - new.amount, 0), updated_at = new.updated_at where id = new.original_id; perform wake_events(array[end_to_end], new.updated_at) from pix_transactions where id = new.original_id;  end if; if new.operation = 'REFUND_OUT' and old.status = 'FAILED' and new.status = 'COMPLETED' then update pix_transactions set refunded_amount = nullif(coalesce(refunded_amount, 0) + new.amount, 0), updated_at = new.updated_at where id = new.original_id;  end if; if old.status = 'PROCESSING' and new.status <> 'PROCESSING' and current_setting('ponte.app_events', true) = 'on' then insert into app_events (id, type, user_id, transaction_id, operation, status, at) values ('pix_' || new.id, 'pix.' || lower(new.status), new.user_id, new.id, new.operation, new.status, new.settled_at) on conflict (id) do nothing; insert into jobs (kind, payload, unique_key, status, run_at, created_at) values ('deliver-app-event', jsonb_build_object('id', 'pix_' || new.id), 'app-event:' || 'pix_' || new.id, 'queued', new.settled_at, new.settled_at) on conflict do nothing; perform pg_notify('ponte_jobs', ''); end if; if old.status = 'FAILED' and new.status = 'COMPLETED' and old.corrected_at is null and new.corrected_at is not null and current_setting('ponte.app_events', true) = 'on' then insert into app_events (id, type, user_id, transaction_id, operation, status, at) values ('pix_' || new.id || '_corrected', 'pix.completed', new.user_id, new.id, new.operation, new.status, new.corrected_at) on conflict (id) do nothing; insert into jobs (kind, payload, unique_key, status, run_at, created_at) values ('deliver-app-event', jsonb_build_object('id', 'pix_' || new.id || '_corrected'), 'app-event:' || 'pix_' || new.id || '_corrected', 'queued', new.corrected_at, new.corrected_at) on conflict do nothing; perform pg_notify('ponte_jobs', ''); end if; return null; end; \$\$ language plpgsql;`);
    this.addSql(`create trigger "pix_transactions_changed" AFTER UPDATE on "pix_transactions" for each ROW
  when (old.status <> 'PROCESSING' or new.status <> 'PROCESSING' or old.qr_code is distinct from new.qr_code or old.expires_at is distinct from new.expires_at) execute function "pix_transactions_pix_transactions_changed_fn"();`);
  }

  /** Refused where returns or closed keys are stored: release 1.2.0 has no place for them. */
  override down(): void {
    for (const name of ['changed', 'return_opened', 'opened']) {
      this.addSql(`drop trigger if exists "pix_transactions_${name}" on "pix_transactions";`);
      this.addSql(`drop function if exists "pix_transactions_pix_transactions_${name}_fn"();`);
    }
    this.addSql(`create or replace function "pix_transactions_pix_transactions_ended_fn"() returns trigger as \$\$ begin insert into app_events (id, type, user_id, transaction_id, operation, status, at) values ('pix_' || new.id, 'pix.' || lower(new.status), new.user_id, new.id, new.operation, new.status, new.settled_at) on conflict (id) do nothing; insert into jobs (kind, payload, unique_key, status, run_at, created_at) values ('deliver-app-event', jsonb_build_object('id', 'pix_' || new.id), 'app-event:' || 'pix_' || new.id, 'queued', new.settled_at, new.settled_at) on conflict do nothing; perform pg_notify('ponte_jobs', ''); return null; end; \$\$ language plpgsql;`);
    this.addSql(`create trigger "pix_transactions_ended" AFTER UPDATE on "pix_transactions" for each ROW
  when (old.status = 'PROCESSING' and new.status <> 'PROCESSING' and current_setting('ponte.app_events', true) = 'on') execute function "pix_transactions_pix_transactions_ended_fn"();`);
    this.addSql(`create or replace function "pix_transactions_pix_transactions_final_status_fn"() returns trigger as \$\$ begin raise exception 'a final transaction does not change' using errcode = 'check_violation'; end; \$\$ language plpgsql;`);
    this.addSql(`create trigger "pix_transactions_final_status" BEFORE UPDATE on "pix_transactions" for each ROW
  when (old.status in ('COMPLETED', 'FAILED') and new.status <> old.status) execute function "pix_transactions_pix_transactions_final_status_fn"();`);

    this.addSql(`create or replace trigger "pix_transactions_ended_new" AFTER INSERT on "pix_transactions" for each ROW
  when (new.status <> 'PROCESSING' and current_setting('ponte.app_events', true) = 'on') execute function "pix_transactions_pix_transactions_ended_new_fn"();`);

    for (const name of ['corrected_completed', 'payee_class_of_send', 'code_of_send', 'closed_key', 'returned_at_most']) {
      this.addSql(`alter table "pix_transactions" drop constraint "pix_transactions_${name}";`);
    }
    this.addSql(`alter table "pix_transactions" alter column "amount" set not null;`);
    this.addSql(`alter table "pix_transactions" drop constraint "pix_transactions_refund_identified", add constraint "pix_transactions_refund_identified" check ((operation in ('REFUND_IN', 'REFUND_OUT')) = (original_id is not null) and (original_id is null or end_to_end is not null));`);
    this.addSql(`alter table "pix_transactions" drop constraint "pix_transactions_claim_keyed", add constraint "pix_transactions_claim_keyed" check ((operation in ('RECEIVED', 'REFUND_IN', 'REFUND_OUT')) = (idempotency_key is null) and (operation in ('RECEIVED', 'REFUND_IN', 'REFUND_OUT')) = (fingerprint is null));`);
    this.addSql(`alter table "pix_transactions" drop column "corrected_at", drop column "paid_again_by", drop column "received_txid", drop column "held_at", drop column "refunding_amount", drop column "code_digest", drop column "code_payee_digest", drop column "payee_class", drop column "resumable_until";`);
  }

}
