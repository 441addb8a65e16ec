import { Migration } from '@mikro-orm/migrations';

/**
 * The tables that release 1.2.0 does not have. Triggers of `pix_transactions` fill `pix_open`.
 */
export class Migration20261128030000_new_tables extends Migration {

  override name = 'Migration20261128030000_new_tables';

  override up(): void {
    this.addSql(`create table "pix_pauses" ("id" serial primary key, "began_at" timestamptz(3) not null, "began_by" text not null, "reason" text not null, "lost_since" timestamptz(3) null, "ended_at" timestamptz(3) null, "ended_by" text null);`);
    this.addSql(`create unique index "pix_pauses_one_open" on "pix_pauses" (("ended_at" is null)) where "ended_at" is null;`);
    this.addSql(`create index "pix_pauses_losses" on "pix_pauses" ("lost_since") where "lost_since" is not null;`);
    this.addSql(`alter table "pix_pauses" add constraint "pix_pauses_end_named" check ((ended_at is null) = (ended_by is null));`);

    this.addSql(`create table "reconciliation_differences" ("id" bigserial primary key, "day" date not null, "user_id" int not null, "kind" text not null, "reason" text not null, "subject" text not null, "transaction_id" uuid null, "end_to_end" text null, "amount" numeric(15,2) null, "stored_amount" numeric(15,2) null, "found_at" timestamptz(3) not null, "seen_at" timestamptz(3) not null, "closed_at" timestamptz(3) null, "closed_as" text null, "blocks" text null);`);
    this.addSql(`create index "reconciliation_differences_blocking" on "reconciliation_differences" ("user_id") where "blocks" is not null and "closed_at" is null;`);
    this.addSql(`create index "reconciliation_differences_open" on "reconciliation_differences" ("found_at", "id") where "closed_at" is null;`);
    this.addSql(`alter table "reconciliation_differences" add constraint "reconciliation_differences_once" unique ("user_id", "kind", "subject");`);
    this.addSql(`create table "reconciliations" ("day" date not null, "user_id" int not null, "state" text not null, "reason" text null, "tried_at" timestamptz(3) not null, "read_at" timestamptz(3) null, "lines" int not null default 0, "settled" int not null default 0, "differences" int not null default 0, primary key ("day", "user_id"));`);
    this.addSql(`create index "reconciliations_unread" on "reconciliations" ("user_id", "day") where "state" = 'UNREAD';`);
    this.addSql(`alter table "reconciliation_differences" add constraint "reconciliation_differences_kind_known" check (kind in ('MISSING_HERE', 'MISSING_THERE', 'DIFFERENT_AMOUNT', 'OTHER_STATUS', 'UNPROVEN'));`);
    this.addSql(`alter table "reconciliation_differences" add constraint "reconciliation_differences_closed" check ((closed_at is null) = (closed_as is null) and closed_as in ('EXPLAINED', 'ACCEPTED'));`);
    this.addSql(`alter table "reconciliation_differences" add constraint "reconciliation_differences_blocks_missing" check (blocks is null or kind = 'MISSING_HERE' and blocks in ('SEND', 'REFUND_OUT', 'ANY'));`);
    this.addSql(`alter table "reconciliations" add constraint "reconciliations_state_known" check (state in ('READ', 'UNREAD') and (state = 'READ') = (read_at is not null));`);
    this.addSql(`alter table "reconciliations" add constraint "reconciliations_reason_known" check (reason in ('NO_SESSION', 'TOKEN_REFUSED', 'NOT_WHOLE', 'UNAVAILABLE', 'MISSED'));`);

    this.addSql(`create table "pix_open" ("transaction_id" uuid not null, "has_code" boolean not null, "expires_at" timestamptz(3) null, primary key ("transaction_id"));`);
    this.addSql(`create index "pix_open_expiring" on "pix_open" ("expires_at") where "expires_at" is not null;`);

    this.addSql(`create table "pix_disputes" ("transaction_id" uuid not null, "user_id" int not null, "status" text not null, "situation" text null, "details" bytea null, "may_be_done" boolean not null default false, "claimed_until" timestamptz(3) null, "withdrawal_requested_at" timestamptz(3) null, "requested_at" timestamptz(3) not null, "opened_at" timestamptz(3) null, "ended_at" timestamptz(3) null, "updated_at" timestamptz(3) not null, primary key ("transaction_id"));`);
    this.addSql(`create index "pix_disputes_unanswered" on "pix_disputes" ("status", "updated_at") where status in ('REQUESTED', 'OPEN');`);
    this.addSql(`create index "pix_disputes_details" on "pix_disputes" ("ended_at") where "details" is not null;`);
    this.addSql(`create index "pix_disputes_user" on "pix_disputes" ("user_id");`);
    this.addSql(`alter table "pix_disputes" add constraint "pix_disputes_status_known" check (status in ('REQUESTED', 'REFUSED', 'OPEN', 'ACCEPTED', 'REJECTED', 'WITHDRAWN'));`);
    this.addSql(`alter table "pix_disputes" add constraint "pix_disputes_situation_known" check (situation in ('SCAM', 'ACCOUNT_TAKEOVER', 'COERCION', 'FRAUDULENT_ACCESS', 'OTHER'));`);
    this.addSql(`alter table "pix_disputes" add constraint "pix_disputes_request_stated" check (situation is not null or status in ('OPEN', 'ACCEPTED', 'REJECTED', 'WITHDRAWN'));`);
    this.addSql(`alter table "pix_disputes" add constraint "pix_disputes_end_dated" check ((status in ('REQUESTED', 'OPEN')) = (ended_at is null));`);
    this.addSql(`alter table "pix_disputes" add constraint "pix_disputes_withdrawal_of_open" check (withdrawal_requested_at is null or status = 'OPEN');`);
    this.addSql(`create or replace function "pix_disputes_pix_disputes_final_status_fn"() returns trigger as \$\$ begin raise exception 'a dispute does not go back' using errcode = 'check_violation'; end; \$\$ language plpgsql;`);
    this.addSql(`create trigger "pix_disputes_final_status" AFTER UPDATE on "pix_disputes" for each ROW
  when (new.status <> old.status and (old.status in ('ACCEPTED', 'REJECTED', 'WITHDRAWN') or (new.status in ('REQUESTED', 'REFUSED') and old.status = 'OPEN'))) execute function "pix_disputes_pix_disputes_final_status_fn"();`);
    this.addSql(`create or replace function "pix_disputes_pix_disputes_moved_fn"() returns trigger as \$\$ begin insert into app_events (id, type, user_id, transaction_id, operation, status, at) values ('dispute_' || new.transaction_id || '_' || lower(new.status) || '_' || to_char(new.requested_at at time zone 'UTC', 'YYYYMMDDHH24MI'), 'dispute.' || lower(new.status), new.user_id, new.transaction_id, 'SEND', new.status, new.updated_at) on conflict (id) do nothing; insert into jobs (kind, payload, unique_key, status, run_at, created_at) values ('deliver-app-event', jsonb_build_object('id', 'dispute_' || new.transaction_id || '_' || lower(new.status) || '_' || to_char(new.requested_at at time zone 'UTC', 'YYYYMMDDHH24MI')), 'app-event:' || 'dispute_' || new.transaction_id || '_' || lower(new.status) || '_' || to_char(new.requested_at at time zone 'UTC', 'YYYYMMDDHH24MI'), 'queued', new.updated_at, new.updated_at) on conflict do nothing; perform pg_notify('ponte_jobs', ''); return null; end; \$\$ language plpgsql;`);
    this.addSql(`create trigger "pix_disputes_moved" AFTER UPDATE on "pix_disputes" for each ROW
  when (old.status <> new.status and new.status <> 'REQUESTED' and current_setting('ponte.app_events', true) = 'on') execute function "pix_disputes_pix_disputes_moved_fn"();`);
    this.addSql(`create or replace function "pix_disputes_pix_disputes_reported_fn"() returns trigger as \$\$ begin insert into app_events (id, type, user_id, transaction_id, operation, status, at) values ('dispute_' || new.transaction_id || '_' || lower(new.status) || '_' || to_char(new.requested_at at time zone 'UTC', 'YYYYMMDDHH24MI'), 'dispute.' || lower(new.status), new.user_id, new.transaction_id, 'SEND', new.status, new.updated_at) on conflict (id) do nothing; insert into jobs (kind, payload, unique_key, status, run_at, created_at) values ('deliver-app-event', jsonb_build_object('id', 'dispute_' || new.transaction_id || '_' || lower(new.status) || '_' || to_char(new.requested_at at time zone 'UTC', 'YYYYMMDDHH24MI')), 'app-event:' || 'dispute_' || new.transaction_id || '_' || lower(new.status) || '_' || to_char(new.requested_at at time zone 'UTC', 'YYYYMMDDHH24MI'), 'queued', new.updated_at, new.updated_at) on conflict do nothing; perform pg_notify('ponte_jobs', ''); return null; end; \$\$ language plpgsql;`);
    this.addSql(`create trigger "pix_disputes_reported" AFTER INSERT on "pix_disputes" for each ROW
  when (new.status <> 'REQUESTED' and current_setting('ponte.app_events', true) = 'on') execute function "pix_disputes_pix_disputes_reported_fn"();`);

    this.addSql(`create table "webhook_refusals" ("minute" timestamptz(3) not null, "reason" text not null, "refusals" int not null, "last_at" timestamptz(3) not null, primary key ("minute", "reason"));`);
    this.addSql(`alter table "webhook_refusals" add constraint "webhook_refusals_reason_known" check (reason in ('wrong_secret', 'missing_secret', 'wrong_signature', 'missing_signature', 'stale_signature', 'wrong_address'));`);

    this.addSql(`create table "webhook_queue" ("event_id" uuid not null, "due_at" timestamptz(3) not null, "waiting_since" timestamptz(3) not null, "attempts" int not null default 0, "waits" int not null default 0, "failures" int not null default 0, "last_error" text null, "seen" text null, primary key ("event_id"));`);
    this.addSql(`create index "webhook_queue_due" on "webhook_queue" ("due_at", "event_id");`);
    this.addSql(`create index "webhook_queue_waiting" on "webhook_queue" ("event_id") where "seen" is not null;`);
    // A few rows live, and each lives for some milliseconds.
    this.addSql(`alter table "webhook_queue" set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0);`);

    // Last: they lock the tables that they refer to.
    this.addSql(`alter table "reconciliation_differences" add constraint "reconciliation_differences_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade;`);
    this.addSql(`alter table "reconciliations" add constraint "reconciliations_user_id_foreign" foreign key ("user_id") references "users" ("id") on delete cascade;`);
  }

  override down(): void {
    this.addSql(`drop table if exists "webhook_queue" cascade;`);
    this.addSql(`drop table if exists "webhook_refusals" cascade;`);
    this.addSql(`drop table if exists "pix_disputes" cascade;`);
    for (const name of ['final_status', 'moved', 'reported']) {
      this.addSql(`drop function if exists "pix_disputes_pix_disputes_${name}_fn"();`);
    }
    this.addSql(`drop table if exists "pix_open" cascade;`);
    this.addSql(`drop table if exists "reconciliations" cascade;`);
    this.addSql(`drop table if exists "reconciliation_differences" cascade;`);
    this.addSql(`drop table if exists "pix_pauses" cascade;`);
  }

}
