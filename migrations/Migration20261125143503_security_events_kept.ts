import { Migration } from '@mikro-orm/migrations';

/**
 * Security events are kept for a year and do not change, for every writer; an erasure takes the
 * digests out.
 */
export class Migration20261125143503_security_events_kept extends Migration {
  override name = 'Migration20261125143503_security_events_kept';

  override up(): void {
    this.addSql(
      `create or replace function "security_events_security_events_unchanged_fn"() returns trigger as \$\$ begin raise exception 'security events do not change' using errcode = 'check_violation'; end; \$\$ language plpgsql;`,
    );
    this.addSql(`create trigger "security_events_unchanged" BEFORE UPDATE on "security_events" for each ROW
  when (old.id <> new.id or old.at <> new.at or old.kind <> new.kind or old.user_id is distinct from new.user_id or (old.identity <> new.identity and new.identity <> 'erased') or (old.address is distinct from new.address and new.address is not null)) execute function "security_events_security_events_unchanged_fn"();`);
    this.addSql(
      `create or replace function "security_events_security_events_kept_fn"() returns trigger as \$\$ begin if old.at > clock_timestamp() - interval '364 days' then raise exception 'security events are kept for a year' using errcode = 'check_violation'; end if; return old; end; \$\$ language plpgsql;`,
    );
    this.addSql(
      `create trigger "security_events_kept" BEFORE DELETE on "security_events" for each ROW execute function "security_events_security_events_kept_fn"();`,
    );
  }

  override down(): void {
    this.addSql(`drop trigger if exists "security_events_unchanged" on "security_events";`);
    this.addSql(`drop function if exists "security_events_security_events_unchanged_fn"();`);
    this.addSql(`drop trigger if exists "security_events_kept" on "security_events";`);
    this.addSql(`drop function if exists "security_events_security_events_kept_fn"();`);
  }
}
