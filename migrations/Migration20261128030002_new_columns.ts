import { OnlineMigration } from '../src/db/online-migration.ts';

const kinds = `'login', 'login_refused', 'password_reset', 'session_revoked', 'user_disabled', 'user_enabled'`;

/**
 * Columns, checks and triggers of the other tables. Each statement is a transaction of its own, so
 * that a lock on one table never waits for another.
 *
 * A trigger writes `attention` of events for instances of release 1.2.0. A page of events keeps room
 * for their results, a third of a settled row: without it the settled version goes to another page,
 * with all its index entries. Pages that are full already stay so.
 */
export class Migration20261128030002_new_columns extends OnlineMigration {

  override name = 'Migration20261128030002_new_columns';

  override up(): void {
    this.addSql(`alter table "accounts" add column if not exists "pix_keys_version" bigint null, add column if not exists "loss_read" int not null default 0, add column if not exists "blocked_by" bigint null, add column if not exists "renumbered_at" timestamptz(3) null;`);

    this.addSql(`alter table "pix_limits" add column if not exists "own_day" numeric(15,2) null, add column if not exists "own_day_next" numeric(15,2) null, add column if not exists "own_day_next_at" timestamptz(3) null, add column if not exists "own_night" numeric(15,2) null, add column if not exists "own_night_next" numeric(15,2) null, add column if not exists "own_night_next_at" timestamptz(3) null, add column if not exists "own_by_payee" jsonb null, add column if not exists "own_earlier" jsonb null;`);
    this.addSql(`alter table "pix_limits" drop constraint if exists "pix_limits_own_amounts", add constraint "pix_limits_own_amounts" check (own_day >= 0 and own_day_next >= 0 and own_night >= 0 and own_night_next >= 0) not valid;`);

    this.addSql(`alter table "banking_sessions" add column if not exists "voided_at" timestamptz(3) null;`);

    this.addSql(`alter table "pix_timeline" add column if not exists "http_status" int null, add column if not exists "provider_code" text null;`);

    this.addSql(`alter table "operator_actions" add column if not exists "database_user" text null;`);
    this.addSql(`create or replace function "operator_actions_operator_actions_stamped_fn"() returns trigger as \$\$ begin new.at := clock_timestamp(); new.database_user := session_user; return new; end; \$\$ language plpgsql;`);
    this.addSql(`create or replace trigger "operator_actions_stamped" BEFORE INSERT on "operator_actions" for each ROW execute function "operator_actions_operator_actions_stamped_fn"();`);

    this.addSql(`alter table "security_events" drop constraint if exists "security_events_kind_known", add constraint "security_events_kind_known" check (kind in (${kinds}, 'limits_changed', 'password_refused')) not valid;`);
    this.addSql(`alter table "security_events" add column if not exists "hour" timestamptz(3) null, add column if not exists "times" int not null default 1;`);
    this.addSql(`create or replace function "security_events_security_events_unchanged_fn"() returns trigger as \$\$ begin raise exception 'security events do not change' using errcode = 'check_violation'; end; \$\$ language plpgsql;`);
    this.addSql(`create or replace trigger "security_events_unchanged" BEFORE UPDATE on "security_events" for each ROW
  when (old.id <> new.id or old.at <> new.at or old.kind <> new.kind or old.hour is distinct from new.hour or new.times < old.times or old.user_id is distinct from new.user_id or (old.identity <> new.identity and new.identity <> 'erased') or (old.address is distinct from new.address and new.address is not null)) execute function "security_events_security_events_unchanged_fn"();`);
    this.addSql(`create or replace function "security_events_security_events_kept_fn"() returns trigger as \$\$ begin if old.at > clock_timestamp() - interval '364 days' then raise exception 'security events are kept for a year' using errcode = 'check_violation'; end if; return old; end; \$\$ language plpgsql;`);
    this.addSql(`create or replace trigger "security_events_kept" BEFORE DELETE on "security_events" for each ROW execute function "security_events_security_events_kept_fn"();`);

    this.addSql(`alter table "webhook_events" add column if not exists "attention" text null;`);
    this.addSql(`create or replace function "webhook_events_webhook_events_attention_fn"() returns trigger as \$\$ begin update webhook_events set attention = case when new.status in ('parked', 'orphaned', 'anomaly') then new.status end where id = new.id; return null; end; \$\$ language plpgsql;`);
    this.addSql(`create or replace trigger "webhook_events_attention" AFTER INSERT OR UPDATE on "webhook_events" for each ROW
  when (new.attention is distinct from case when new.status in ('parked', 'orphaned', 'anomaly') then new.status end) execute function "webhook_events_webhook_events_attention_fn"();`);
    this.addSql(`alter table "webhook_events" set (fillfactor = 60);`);
  }

  /** Security events that are stored are kept, so the older check does not hold for each of them. */
  override down(): void {
    this.addSql(`alter table "webhook_events" reset (fillfactor);`);
    this.addSql(`drop trigger if exists "webhook_events_attention" on "webhook_events";`);
    this.addSql(`drop function if exists "webhook_events_webhook_events_attention_fn"();`);
    this.addSql(`alter table "webhook_events" drop column if exists "attention";`);

    for (const name of ['kept', 'unchanged']) {
      this.addSql(`drop trigger if exists "security_events_${name}" on "security_events";`);
      this.addSql(`drop function if exists "security_events_security_events_${name}_fn"();`);
    }
    this.addSql(`alter table "security_events" drop column if exists "hour", drop column if exists "times";`);
    this.addSql(`alter table "security_events" drop constraint if exists "security_events_kind_known", add constraint "security_events_kind_known" check (kind in (${kinds})) not valid;`);

    this.addSql(`drop trigger if exists "operator_actions_stamped" on "operator_actions";`);
    this.addSql(`drop function if exists "operator_actions_operator_actions_stamped_fn"();`);
    this.addSql(`alter table "operator_actions" drop column if exists "database_user";`);

    this.addSql(`alter table "banking_sessions" drop column if exists "voided_at";`);

    this.addSql(`alter table "pix_timeline" drop column if exists "http_status", drop column if exists "provider_code";`);

    this.addSql(`alter table "pix_limits" drop constraint if exists "pix_limits_own_amounts", drop column if exists "own_day", drop column if exists "own_day_next", drop column if exists "own_day_next_at", drop column if exists "own_night", drop column if exists "own_night_next", drop column if exists "own_night_next_at", drop column if exists "own_by_payee", drop column if exists "own_earlier";`);

    this.addSql(`alter table "accounts" drop column if exists "pix_keys_version", drop column if exists "loss_read", drop column if exists "blocked_by", drop column if exists "renumbered_at";`);
  }

}
