import { Migration } from '@mikro-orm/migrations';

/** Triggers write an app event when a transaction ends, where the session asks for it. */
export class Migration20261123202523_pix_told extends Migration {
  override name = 'Migration20261123202523_pix_told';

  override up(): void {
    this.addSql(
      `create or replace function "pix_transactions_pix_transactions_ended_fn"() returns trigger as \$\$ begin insert into app_events (id, type, user_id, transaction_id, operation, status, at) values ('pix_' || new.id, 'pix.' || lower(new.status), new.user_id, new.id, new.operation, new.status, new.settled_at) on conflict (id) do nothing; insert into jobs (kind, payload, unique_key, status, run_at, created_at) values ('deliver-app-event', jsonb_build_object('id', 'pix_' || new.id), 'app-event:' || 'pix_' || new.id, 'queued', new.settled_at, new.settled_at) on conflict do nothing; perform pg_notify('ponte_jobs', ''); return null; end; \$\$ language plpgsql;`,
    );
    this.addSql(
      `create trigger "pix_transactions_ended" AFTER UPDATE on "pix_transactions" for each ROW
  when (old.status = 'PROCESSING' and new.status <> 'PROCESSING' and current_setting('ponte.app_events', true) = 'on') execute function "pix_transactions_pix_transactions_ended_fn"();`,
    );
    this.addSql(
      `create or replace function "pix_transactions_pix_transactions_ended_new_fn"() returns trigger as \$\$ begin insert into app_events (id, type, user_id, transaction_id, operation, status, at) values ('pix_' || new.id, 'pix.' || lower(new.status), new.user_id, new.id, new.operation, new.status, new.settled_at) on conflict (id) do nothing; insert into jobs (kind, payload, unique_key, status, run_at, created_at) values ('deliver-app-event', jsonb_build_object('id', 'pix_' || new.id), 'app-event:' || 'pix_' || new.id, 'queued', new.settled_at, new.settled_at) on conflict do nothing; perform pg_notify('ponte_jobs', ''); return null; end; \$\$ language plpgsql;`,
    );
    this.addSql(
      `create trigger "pix_transactions_ended_new" AFTER INSERT on "pix_transactions" for each ROW
  when (new.status <> 'PROCESSING' and current_setting('ponte.app_events', true) = 'on') execute function "pix_transactions_pix_transactions_ended_new_fn"();`,
    );
  }

  override down(): void {
    this.addSql(`drop trigger if exists "pix_transactions_ended" on "pix_transactions";`);
    this.addSql(`drop function if exists "pix_transactions_pix_transactions_ended_fn"();`);
    this.addSql(`drop trigger if exists "pix_transactions_ended_new" on "pix_transactions";`);
    this.addSql(`drop function if exists "pix_transactions_pix_transactions_ended_new_fn"();`);
  }
}
