import { Migration } from '@mikro-orm/migrations';

export class Migration20261121054915_waits_and_uploads extends Migration {

  override name = 'Migration20261121054915_waits_and_uploads';

  override up(): void | Promise<void> {
    this.addSql(`create table "onboarding_document_chunks" ("document_id" uuid not null, "place" int not null, "sealed_content" bytea not null, primary key ("document_id", "place"));`);

    this.addSql(`create table "webhook_waits" ("id_value" text not null, "event_id" uuid not null, primary key ("id_value", "event_id"));`);
    this.addSql(`create index "webhook_waits_event" on "webhook_waits" ("event_id");`);

    this.addSql(`create index "banking_sessions_expiring" on "banking_sessions" ("token_expires_at") where "status" = 'ACTIVE';`);

    this.addSql(`alter table "jobs" add "wanted" boolean not null default false;`);
    this.addSql(`create index "jobs_dead" on "jobs" ("id") where "status" = 'dead';`);
    this.addSql(`create index "jobs_finished" on "jobs" ("finished_at") where "finished_at" is not null;`);

    this.addSql(`alter table "onboarding_applications" add "validation" jsonb null, add "validation_failures" int not null default 0, add "validation_locked_until" timestamptz(3) null, add "sealed_code" bytea null;`);
    this.addSql(`alter table "onboarding_applications" add constraint "onboarding_applications_account_when_approved" check (not conta_bancaria_criada or status = 'APPROVED');`);
    this.addSql(`create or replace function "onboarding_applications_onboarding_applications_moves_forward_fn"() returns trigger as \$\$ begin raise exception 'an application does not move this way' using errcode = 'check_violation'; end; \$\$ language plpgsql;`);
    this.addSql(`create trigger "onboarding_applications_moves_forward" BEFORE UPDATE on "onboarding_applications" for each ROW when (old.status <> new.status and (old.status, new.status) not in (('IN_PROGRESS', 'UNDER_ANALYSIS'), ('UNDER_ANALYSIS', 'APPROVED'), ('UNDER_ANALYSIS', 'REJECTED'))) execute function "onboarding_applications_onboarding_applications_moves_forward_fn"();`);

    this.addSql(`alter table "onboarding_documents" drop constraint "onboarding_documents_content_unique";`);
    this.addSql(`alter table "onboarding_documents" drop constraint "onboarding_documents_content_until_forwarded";`);
    this.addSql(`alter table "onboarding_documents" drop column "sealed_content";`);
    this.addSql(`alter table "onboarding_documents" add "status" text not null, add "chunk_count" int null, add "stored_at" timestamptz(3) null;`);
    this.addSql(`alter table "onboarding_documents" alter column "content_hash" drop not null;`);
    this.addSql(`alter table "onboarding_documents" alter column "content_type" drop not null;`);
    this.addSql(`alter table "onboarding_documents" alter column "size_bytes" drop not null;`);
    this.addSql(`alter table "onboarding_documents" alter column "tipo_documento" drop not null;`);
    this.addSql(`create unique index "onboarding_documents_content_once" on "onboarding_documents" ("application_id", "tipo_documento", "content_hash") where "status" <> 'receiving';`);
    this.addSql(`create index "onboarding_documents_receiving" on "onboarding_documents" ("created_at") where "status" = 'receiving';`);
    this.addSql(`alter table "onboarding_documents" add constraint "onboarding_documents_status_known" check (status in ('receiving', 'stored', 'forwarded'));`);
    this.addSql(`alter table "onboarding_documents" add constraint "onboarding_documents_stored_whole" check ((status = 'receiving') or (tipo_documento is not null and content_type is not null and size_bytes is not null and chunk_count is not null and content_hash is not null and stored_at is not null));`);
    this.addSql(`alter table "onboarding_documents" add constraint "onboarding_documents_forwarded_dated" check ((status = 'forwarded') = (forwarded_at is not null));`);

    this.addSql(`create index "webhook_events_received" on "webhook_events" ("received_at");`);
    this.addSql(`create index "webhook_events_flagged" on "webhook_events" ("received_at") where "status" in ('orphaned', 'anomaly');`);
    this.addSql(`create index "webhook_events_kept" on "webhook_events" ("received_at") where "payload" is not null;`);

    this.addSql(`alter table "onboarding_document_chunks" add constraint "onboarding_document_chunks_document_id_foreign" foreign key ("document_id") references "onboarding_documents" ("id") on delete cascade;`);

    this.addSql(`alter table "webhook_waits" add constraint "webhook_waits_event_id_foreign" foreign key ("event_id") references "webhook_events" ("id") on delete cascade;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`drop table if exists "onboarding_document_chunks" cascade;`);
    this.addSql(`drop table if exists "webhook_waits" cascade;`);

    this.addSql(`drop index "banking_sessions_expiring";`);

    this.addSql(`drop index "jobs_dead";`);
    this.addSql(`drop index "jobs_finished";`);
    this.addSql(`alter table "jobs" drop column "wanted";`);

    this.addSql(`drop trigger "onboarding_applications_moves_forward" on "onboarding_applications";`);
    this.addSql(`drop function "onboarding_applications_onboarding_applications_moves_forward_fn"();`);
    this.addSql(`alter table "onboarding_applications" drop constraint "onboarding_applications_account_when_approved";`);
    this.addSql(`alter table "onboarding_applications" drop column "validation", drop column "validation_failures", drop column "validation_locked_until", drop column "sealed_code";`);

    this.addSql(`drop index "onboarding_documents_content_once";`);
    this.addSql(`drop index "onboarding_documents_receiving";`);
    this.addSql(`alter table "onboarding_documents" drop constraint "onboarding_documents_status_known";`);
    this.addSql(`alter table "onboarding_documents" drop constraint "onboarding_documents_stored_whole";`);
    this.addSql(`alter table "onboarding_documents" drop constraint "onboarding_documents_forwarded_dated";`);
    this.addSql(`alter table "onboarding_documents" drop column "status", drop column "chunk_count", drop column "stored_at";`);
    this.addSql(`alter table "onboarding_documents" add "sealed_content" bytea null;`);
    this.addSql(`alter table "onboarding_documents" alter column "tipo_documento" set not null;`);
    this.addSql(`alter table "onboarding_documents" alter column "content_type" set not null;`);
    this.addSql(`alter table "onboarding_documents" alter column "size_bytes" set not null;`);
    this.addSql(`alter table "onboarding_documents" alter column "content_hash" set not null;`);
    this.addSql(`alter table "onboarding_documents" add constraint "onboarding_documents_content_unique" unique ("application_id", "tipo_documento", "content_hash");`);
    this.addSql(`alter table "onboarding_documents" add constraint "onboarding_documents_content_until_forwarded" check ((sealed_content is null) = (forwarded_at is not null));`);

    this.addSql(`drop index "webhook_events_received";`);
    this.addSql(`drop index "webhook_events_flagged";`);
    this.addSql(`drop index "webhook_events_kept";`);
  }

}
