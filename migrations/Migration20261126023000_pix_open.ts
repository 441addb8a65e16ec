import { Migration } from '@mikro-orm/migrations';

/**
 * The open transactions as a table that triggers keep for every writer, also for instances of the
 * previous release. It replaces the indexes of the status, so that the end of a payment changes no
 * index of its row.
 */
export class Migration20261126023000_pix_open extends Migration {
  override name = 'Migration20261126023000_pix_open';

  override up(): void {
    this.addSql(`create table "pix_open" ("transaction_id" uuid not null, "has_code" boolean not null, "expires_at" timestamptz(3) null, primary key ("transaction_id"));`);
    this.addSql(`create index "pix_open_expiring" on "pix_open" ("expires_at") where "expires_at" is not null;`);
    this.addSql(`create or replace function "pix_transactions_pix_transactions_opened_fn"() returns trigger as \$\$ begin insert into pix_open (transaction_id, has_code, expires_at) values (new.id, new.qr_code is not null, new.expires_at); return null; end; \$\$ language plpgsql;`);
    this.addSql(`create trigger "pix_transactions_opened" AFTER INSERT on "pix_transactions" for each ROW
  when ((new.status = 'PROCESSING' and (new.qr_code is null or new.expires_at is not null))) execute function "pix_transactions_pix_transactions_opened_fn"();`);
    this.addSql(`create or replace function "pix_transactions_pix_transactions_waiting_fn"() returns trigger as \$\$ begin insert into pix_open (transaction_id, has_code, expires_at) values (new.id, new.qr_code is not null, new.expires_at) on conflict (transaction_id) do update set has_code = excluded.has_code, expires_at = excluded.expires_at; return null; end; \$\$ language plpgsql;`);
    this.addSql(`create trigger "pix_transactions_waiting" AFTER UPDATE on "pix_transactions" for each ROW
  when ((new.status = 'PROCESSING' and (new.qr_code is null or new.expires_at is not null)) and (not (old.status = 'PROCESSING' and (old.qr_code is null or old.expires_at is not null)) or (old.qr_code is null) <> (new.qr_code is null) or old.expires_at is distinct from new.expires_at)) execute function "pix_transactions_pix_transactions_waiting_fn"();`);
    this.addSql(`create or replace function "pix_transactions_pix_transactions_closed_fn"() returns trigger as \$\$ begin delete from pix_open where transaction_id = new.id; return null; end; \$\$ language plpgsql;`);
    this.addSql(`create trigger "pix_transactions_closed" AFTER UPDATE on "pix_transactions" for each ROW
  when (old.status = 'PROCESSING' and not (new.status = 'PROCESSING' and (new.qr_code is null or new.expires_at is not null))) execute function "pix_transactions_pix_transactions_closed_fn"();`);
  }

  override down(): void {
    this.addSql(`drop trigger if exists "pix_transactions_opened" on "pix_transactions";`);
    this.addSql(`drop function if exists "pix_transactions_pix_transactions_opened_fn"();`);
    this.addSql(`drop trigger if exists "pix_transactions_waiting" on "pix_transactions";`);
    this.addSql(`drop function if exists "pix_transactions_pix_transactions_waiting_fn"();`);
    this.addSql(`drop trigger if exists "pix_transactions_closed" on "pix_transactions";`);
    this.addSql(`drop function if exists "pix_transactions_pix_transactions_closed_fn"();`);
    this.addSql(`drop table if exists "pix_open" cascade;`);
  }
}
