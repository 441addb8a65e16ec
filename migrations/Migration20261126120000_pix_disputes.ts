import { Migration } from '@mikro-orm/migrations';

/** The disputes of payments. */
export class Migration20261126120000_pix_disputes extends Migration {
  override name = 'Migration20261126120000_pix_disputes';

  override up(): void {
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
    this.addSql(`create or replace function "pix_disputes_pix_disputes_moved_fn"() returns trigger as \$\$ begin insert into app_events (id, type, user_id, transaction_id, operation, status, at) values ('dispute_' || new.transaction_id || '_' || lower(new.status), 'dispute.' || lower(new.status), new.user_id, new.transaction_id, 'SEND', new.status, new.updated_at) on conflict (id) do nothing; insert into jobs (kind, payload, unique_key, status, run_at, created_at) values ('deliver-app-event', jsonb_build_object('id', 'dispute_' || new.transaction_id || '_' || lower(new.status)), 'app-event:' || 'dispute_' || new.transaction_id || '_' || lower(new.status), 'queued', new.updated_at, new.updated_at) on conflict do nothing; perform pg_notify('ponte_jobs', ''); return null; end; \$\$ language plpgsql;`);
    this.addSql(`create trigger "pix_disputes_moved" AFTER UPDATE on "pix_disputes" for each ROW
  when (old.status <> new.status and new.status <> 'REQUESTED' and current_setting('ponte.app_events', true) = 'on') execute function "pix_disputes_pix_disputes_moved_fn"();`);
    this.addSql(`create or replace function "pix_disputes_pix_disputes_reported_fn"() returns trigger as \$\$ begin insert into app_events (id, type, user_id, transaction_id, operation, status, at) values ('dispute_' || new.transaction_id || '_' || lower(new.status), 'dispute.' || lower(new.status), new.user_id, new.transaction_id, 'SEND', new.status, new.updated_at) on conflict (id) do nothing; insert into jobs (kind, payload, unique_key, status, run_at, created_at) values ('deliver-app-event', jsonb_build_object('id', 'dispute_' || new.transaction_id || '_' || lower(new.status)), 'app-event:' || 'dispute_' || new.transaction_id || '_' || lower(new.status), 'queued', new.updated_at, new.updated_at) on conflict do nothing; perform pg_notify('ponte_jobs', ''); return null; end; \$\$ language plpgsql;`);
    this.addSql(`create trigger "pix_disputes_reported" AFTER INSERT on "pix_disputes" for each ROW
  when (new.status <> 'REQUESTED' and current_setting('ponte.app_events', true) = 'on') execute function "pix_disputes_pix_disputes_reported_fn"();`);
  }

  override down(): void {
    this.addSql(`drop trigger if exists "pix_disputes_final_status" on "pix_disputes";`);
    this.addSql(`drop function if exists "pix_disputes_pix_disputes_final_status_fn"();`);
    this.addSql(`drop trigger if exists "pix_disputes_moved" on "pix_disputes";`);
    this.addSql(`drop function if exists "pix_disputes_pix_disputes_moved_fn"();`);
    this.addSql(`drop trigger if exists "pix_disputes_reported" on "pix_disputes";`);
    this.addSql(`drop function if exists "pix_disputes_pix_disputes_reported_fn"();`);
    this.addSql(`drop table if exists "pix_disputes" cascade;`);
  }
}
