import { Migration } from '@mikro-orm/migrations';

export class Migration20261121030210_initial extends Migration {
  override name = 'Migration20261121030210_initial';

  override up(): void | Promise<void> {
    this.addSql(
      `create table "jobs" ("id" bigserial primary key, "kind" text not null, "payload" jsonb not null, "unique_key" text null, "status" text not null, "run_at" timestamptz(3) not null, "attempts" int not null default 0, "leased_until" timestamptz(3) null, "leased_by" text null, "last_error" text null, "created_at" timestamptz(3) not null, "finished_at" timestamptz(3) null);`,
    );
    this.addSql(`create index "jobs_due" on "jobs" ("run_at", "id") where "status" = 'queued';`);
    this.addSql(
      `create index "jobs_leases" on "jobs" ("leased_until") where "status" = 'running';`,
    );
    this.addSql(
      `create unique index "jobs_unique_open" on "jobs" ("unique_key") where "unique_key" is not null and "status" in ('queued', 'running');`,
    );
    this.addSql(
      `alter table "jobs" add constraint "jobs_status_known" check (status in ('queued', 'running', 'done', 'dead'));`,
    );
    this.addSql(
      `alter table "jobs" add constraint "jobs_lease_while_running" check ((status = 'running') = (leased_until is not null) and (status = 'running') = (leased_by is not null));`,
    );

    this.addSql(
      `create table "throttle_counters" ("key" text not null, "window_started_at" timestamptz(3) not null, "attempts" int not null, primary key ("key"));`,
    );
    this.addSql(
      `create index "throttle_counters_window" on "throttle_counters" ("window_started_at");`,
    );

    this.addSql(
      `create table "users" ("id" serial primary key, "name" text not null, "email" text not null, "document" text null, "person_type" text null, "phone" text null, "password_hash" text not null, "status" text not null default 'ACTIVE', "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null);`,
    );
    this.addSql(`create unique index "users_email_unique" on "users" (lower("email"));`);
    this.addSql(
      `create unique index "users_document_unique" on "users" ("document") where "document" is not null;`,
    );
    this.addSql(
      `alter table "users" add constraint "users_person_type_known" check (person_type in ('PF', 'PJ'));`,
    );
    this.addSql(
      `alter table "users" add constraint "users_status_known" check (status in ('ACTIVE', 'DISABLED'));`,
    );

    this.addSql(
      `create table "pix_transactions" ("id" uuid not null, "user_id" int not null, "operation" text not null, "idempotency_key" text null, "fingerprint" bytea null, "status" text not null, "phase" text not null, "outcome" text null, "failure_code" text null, "amount" numeric(15,2) not null, "pix_key" text null, "description" text null, "end_to_end" text null, "transaction_identification" text null, "provider_txid" text null, "qr_code" text null, "copy_paste" text null, "claimed_until" timestamptz(3) null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, "settled_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(
      `create unique index "pix_transactions_end_to_end_unique" on "pix_transactions" ("end_to_end", "operation") where "end_to_end" is not null;`,
    );
    this.addSql(
      `create unique index "pix_transactions_txid_unique" on "pix_transactions" (left("transaction_identification", 25)) where "transaction_identification" is not null;`,
    );
    this.addSql(
      `create index "pix_transactions_client_request" on "pix_transactions" ("idempotency_key") where "operation" = 'SEND';`,
    );
    this.addSql(
      `create index "pix_transactions_provider_txid" on "pix_transactions" ("provider_txid") where "provider_txid" is not null;`,
    );
    this.addSql(
      `create index "pix_transactions_statement" on "pix_transactions" ("user_id", "created_at", "id");`,
    );
    this.addSql(
      `create index "pix_transactions_unsettled" on "pix_transactions" ("phase", "updated_at") where "status" = 'PROCESSING';`,
    );
    this.addSql(
      `alter table "pix_transactions" add constraint "pix_transactions_idempotency_unique" unique ("user_id", "operation", "idempotency_key");`,
    );
    this.addSql(
      `alter table "pix_transactions" add constraint "pix_transactions_amount_positive" check (amount > 0);`,
    );
    this.addSql(
      `alter table "pix_transactions" add constraint "pix_transactions_operation_known" check (operation in ('SEND', 'CHARGE', 'RECEIVED'));`,
    );
    this.addSql(
      `alter table "pix_transactions" add constraint "pix_transactions_outcome_known" check (outcome in ('accepted', 'unknown', 'not_sent', 'rejected'));`,
    );
    this.addSql(
      `alter table "pix_transactions" add constraint "pix_transactions_status_and_phase" check ((status = 'PROCESSING' and phase in ('RESERVED', 'RESOLVED', 'PAYING', 'ACCEPTED', 'UNKNOWN')) or (status = 'COMPLETED' and phase in ('SETTLED')) or (status = 'FAILED' and phase in ('REJECTED', 'SETTLED')));`,
    );
    this.addSql(
      `alter table "pix_transactions" add constraint "pix_transactions_settled_dated" check ((status = 'PROCESSING') = (settled_at is null));`,
    );
    this.addSql(
      `alter table "pix_transactions" add constraint "pix_transactions_claim_keyed" check ((operation = 'RECEIVED') = (idempotency_key is null) and (operation = 'RECEIVED') = (fingerprint is null));`,
    );
    this.addSql(
      `alter table "pix_transactions" add constraint "pix_transactions_paying_resolved" check (operation <> 'SEND' or phase in ('RESERVED', 'SETTLED') or end_to_end is not null);`,
    );
    this.addSql(
      `alter table "pix_transactions" add constraint "pix_transactions_charge_identified" check ((operation = 'CHARGE') = (transaction_identification is not null));`,
    );
    this.addSql(
      `create or replace function "pix_transactions_pix_transactions_final_status_fn"() returns trigger as \$\$ begin raise exception 'a final transaction does not change' using errcode = 'check_violation'; end; \$\$ language plpgsql;`,
    );
    this
      .addSql(`create trigger "pix_transactions_final_status" BEFORE UPDATE on "pix_transactions" for each ROW
  when (old.status in ('COMPLETED', 'FAILED') and new.status <> old.status) execute function "pix_transactions_pix_transactions_final_status_fn"();`);

    this.addSql(
      `create table "pix_timeline" ("id" bigserial primary key, "transaction_id" uuid not null, "phase" text not null, "at" timestamptz(3) not null, "attempt" int null, "provider_status" text null, "event_id" uuid null, "note" text null);`,
    );
    this.addSql(
      `create index "pix_timeline_transaction" on "pix_timeline" ("transaction_id", "id");`,
    );
    this.addSql(
      `create or replace function "pix_timeline_pix_timeline_append_only_fn"() returns trigger as \$\$ begin raise exception 'the timeline is only added to' using errcode = 'check_violation'; end; \$\$ language plpgsql;`,
    );
    this.addSql(
      `create trigger "pix_timeline_append_only" BEFORE UPDATE OR DELETE on "pix_timeline" for each ROW execute function "pix_timeline_pix_timeline_append_only_fn"();`,
    );

    this.addSql(
      `create table "onboarding_applications" ("id" uuid not null, "user_id" int not null, "person_type" text not null, "status" text not null, "kyc_status" text null, "steps" jsonb not null, "address" jsonb null, "proposal" jsonb null, "pessoa_fisica_id" text null, "client_token" text null, "agency" text null, "account_number" text null, "prova_vida_session_id" text null, "prova_vida_url" text null, "conta_bancaria_criada" boolean not null default false, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "onboarding_applications" add constraint "onboarding_applications_user_unique" unique ("user_id");`,
    );
    this.addSql(
      `alter table "onboarding_applications" add constraint "onboarding_applications_status_known" check (status in ('IN_PROGRESS', 'UNDER_ANALYSIS', 'APPROVED', 'REJECTED'));`,
    );
    this.addSql(
      `alter table "onboarding_applications" add constraint "onboarding_applications_kyc_known" check (kyc_status in ('PENDING', 'APPROVED', 'REJECTED'));`,
    );
    this.addSql(
      `alter table "onboarding_applications" add constraint "onboarding_applications_person_type_known" check (person_type in ('PF', 'PJ'));`,
    );

    this.addSql(
      `create table "onboarding_documents" ("id" uuid not null, "application_id" uuid not null, "tipo_documento" int not null, "content_type" text not null, "size_bytes" int not null, "content_hash" bytea not null, "sealed_content" bytea null, "created_at" timestamptz(3) not null, "forwarded_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "onboarding_documents" add constraint "onboarding_documents_content_unique" unique ("application_id", "tipo_documento", "content_hash");`,
    );
    this.addSql(
      `alter table "onboarding_documents" add constraint "onboarding_documents_type_known" check (tipo_documento between 1 and 21);`,
    );
    this.addSql(
      `alter table "onboarding_documents" add constraint "onboarding_documents_content_type_known" check (content_type in ('application/pdf', 'image/jpeg', 'image/png'));`,
    );
    this.addSql(
      `alter table "onboarding_documents" add constraint "onboarding_documents_content_until_forwarded" check ((sealed_content is null) = (forwarded_at is not null));`,
    );

    this.addSql(
      `create table "banking_sessions" ("id" uuid not null, "user_id" int not null, "status" text not null, "sealed_token" bytea null, "token_expires_at" timestamptz(3) null, "created_at" timestamptz(3) not null, "renewed_at" timestamptz(3) not null, "ended_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(
      `create unique index "banking_sessions_one_active" on "banking_sessions" ("user_id") where "status" = 'ACTIVE';`,
    );
    this.addSql(
      `alter table "banking_sessions" add constraint "banking_sessions_status_known" check (status in ('ACTIVE', 'ENDED', 'EXPIRED'));`,
    );
    this.addSql(
      `alter table "banking_sessions" add constraint "banking_sessions_token_while_active" check ((status = 'ACTIVE') = (sealed_token is not null));`,
    );
    this.addSql(
      `alter table "banking_sessions" add constraint "banking_sessions_end_dated" check ((status = 'ACTIVE') = (ended_at is null));`,
    );

    this.addSql(
      `create table "accounts" ("id" serial primary key, "user_id" int not null, "provider" text not null, "agency" text null, "account_number" text null, "document" text null, "status" text not null, "provider_company_id" text null, "provider_client_token" text null, "balance" numeric(15,2) null, "balance_read_at" timestamptz(3) null, "created_at" timestamptz(3) not null, "updated_at" timestamptz(3) not null);`,
    );
    this.addSql(`alter table "accounts" add constraint "accounts_user_unique" unique ("user_id");`);
    this.addSql(
      `create unique index "accounts_local_number_unique" on "accounts" ("agency", "account_number") where "provider" = 'local';`,
    );
    this.addSql(
      `create index "accounts_number_lookup" on "accounts" ("account_number") where "account_number" is not null;`,
    );
    this.addSql(
      `create index "accounts_document_lookup" on "accounts" ("document") where "document" is not null;`,
    );
    this.addSql(
      `alter table "accounts" add constraint "accounts_status_known" check (status in ('PENDING', 'ACTIVE', 'REJECTED', 'BLOCKED'));`,
    );
    this.addSql(
      `alter table "accounts" add constraint "accounts_provider_known" check (provider in ('provider', 'local'));`,
    );
    this.addSql(
      `alter table "accounts" add constraint "accounts_balance_dated" check ((balance is null) = (balance_read_at is null));`,
    );

    this.addSql(
      `create table "webhook_events" ("id" uuid not null, "payload_hash" bytea not null, "payload" bytea null, "status" text not null, "results" jsonb null, "received_at" timestamptz(3) not null, "processed_at" timestamptz(3) null, primary key ("id"));`,
    );
    this.addSql(
      `alter table "webhook_events" add constraint "webhook_events_payload_hash_unique" unique ("payload_hash");`,
    );
    this.addSql(
      `create index "webhook_events_waiting" on "webhook_events" ("received_at") where "status" in ('received', 'parked');`,
    );
    this.addSql(
      `alter table "webhook_events" add constraint "webhook_events_status_known" check (status in ('received', 'processed', 'ignored', 'parked', 'orphaned', 'anomaly'));`,
    );

    this.addSql(
      `alter table "pix_transactions" add constraint "pix_transactions_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete restrict;`,
    );

    this.addSql(
      `alter table "pix_timeline" add constraint "pix_timeline_transaction_id_foreign" foreign key ("transaction_id") references "pix_transactions" ("id") on delete restrict;`,
    );

    this.addSql(
      `alter table "onboarding_applications" add constraint "onboarding_applications_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete restrict;`,
    );

    this.addSql(
      `alter table "onboarding_documents" add constraint "onboarding_documents_application_id_foreign" foreign key ("application_id") references "onboarding_applications" ("id") on delete restrict;`,
    );

    this.addSql(
      `alter table "banking_sessions" add constraint "banking_sessions_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete restrict;`,
    );

    this.addSql(
      `alter table "accounts" add constraint "accounts_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete restrict;`,
    );
  }
}
