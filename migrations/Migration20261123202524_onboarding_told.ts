import { Migration } from '@mikro-orm/migrations';

/** Triggers write an app event when an onboarding is decided, where the session asks for it. */
export class Migration20261123202524_onboarding_told extends Migration {
  override name = 'Migration20261123202524_onboarding_told';

  override up(): void {
    this.addSql(
      `create or replace function "onboarding_applications_onboarding_applications_told_fn"() returns trigger as \$\$ begin insert into app_events (id, type, user_id, transaction_id, operation, status, at) values ('onboarding_' || new.user_id, 'onboarding.' || lower(new.status), new.user_id, null, null, new.status, new.updated_at) on conflict (id) do nothing; insert into jobs (kind, payload, unique_key, status, run_at, created_at) values ('deliver-app-event', jsonb_build_object('id', 'onboarding_' || new.user_id), 'app-event:' || 'onboarding_' || new.user_id, 'queued', new.updated_at, new.updated_at) on conflict do nothing; perform pg_notify('ponte_jobs', ''); return null; end; \$\$ language plpgsql;`,
    );
    this.addSql(
      `create trigger "onboarding_applications_told" AFTER UPDATE on "onboarding_applications" for each ROW
  when (old.status <> new.status and new.status in ('APPROVED', 'REJECTED') and current_setting('ponte.app_events', true) = 'on') execute function "onboarding_applications_onboarding_applications_told_fn"();`,
    );
  }

  override down(): void {
    this.addSql(
      `drop trigger if exists "onboarding_applications_told" on "onboarding_applications";`,
    );
    this.addSql(
      `drop function if exists "onboarding_applications_onboarding_applications_told_fn"();`,
    );
  }
}
