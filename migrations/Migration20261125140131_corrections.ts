import { Migration } from '@mikro-orm/migrations';

/** A FAILED transaction that was paid becomes COMPLETED, once, and the app's backend is notified. */
export class Migration20261125140131_corrections extends Migration {
  override name = 'Migration20261125140131_corrections';

  override up(): void {
    this.addSql(
      `alter table "pix_transactions" add "corrected_at" timestamptz(3) null, add "paid_again_by" uuid null;`,
    );
    this.addSql(
      `alter table "pix_transactions" add constraint "pix_transactions_corrected_completed" check (corrected_at is null and paid_again_by is null or status = 'COMPLETED' and operation in ('SEND', 'CHARGE')) not valid;`,
    );
    this.addSql(
      `create or replace trigger "pix_transactions_final_status" BEFORE UPDATE on "pix_transactions" for each ROW
  when (old.status in ('COMPLETED', 'FAILED') and new.status <> old.status and not (old.status = 'FAILED' and new.status = 'COMPLETED' and old.corrected_at is null and new.corrected_at is not null)) execute function "pix_transactions_pix_transactions_final_status_fn"();`,
    );
    this.addSql(
      `create or replace function "pix_transactions_pix_transactions_corrected_fn"() returns trigger as \$\$ begin insert into app_events (id, type, user_id, transaction_id, operation, status, at) values ('pix_' || new.id || '_corrected', 'pix.completed', new.user_id, new.id, new.operation, new.status, new.corrected_at) on conflict (id) do nothing; insert into jobs (kind, payload, unique_key, status, run_at, created_at) values ('deliver-app-event', jsonb_build_object('id', 'pix_' || new.id || '_corrected'), 'app-event:' || 'pix_' || new.id || '_corrected', 'queued', new.corrected_at, new.corrected_at) on conflict do nothing; perform pg_notify('ponte_jobs', ''); return null; end; \$\$ language plpgsql;`,
    );
    this.addSql(
      `create trigger "pix_transactions_corrected" AFTER UPDATE on "pix_transactions" for each ROW
  when (old.status = 'FAILED' and new.status = 'COMPLETED' and old.corrected_at is null and new.corrected_at is not null and current_setting('ponte.app_events', true) = 'on') execute function "pix_transactions_pix_transactions_corrected_fn"();`,
    );
  }

  override down(): void {
    this.addSql(`drop trigger if exists "pix_transactions_corrected" on "pix_transactions";`);
    this.addSql(`drop function if exists "pix_transactions_pix_transactions_corrected_fn"();`);
    this.addSql(
      `create or replace trigger "pix_transactions_final_status" BEFORE UPDATE on "pix_transactions" for each ROW
  when (old.status in ('COMPLETED', 'FAILED') and new.status <> old.status) execute function "pix_transactions_pix_transactions_final_status_fn"();`,
    );
    this.addSql(
      `alter table "pix_transactions" drop constraint "pix_transactions_corrected_completed";`,
    );
    this.addSql(
      `alter table "pix_transactions" drop column "corrected_at", drop column "paid_again_by";`,
    );
  }
}
