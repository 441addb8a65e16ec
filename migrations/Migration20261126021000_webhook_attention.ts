import { Migration } from '@mikro-orm/migrations';

/**
 * `attention` has the status of an event that waits or needs an operator. It replaces `status` in
 * the indexes, so that settling an ordinary event changes none of them. The trigger writes it for
 * instances of the previous release.
 *
 * A page of events keeps room for their results, a third of a settled row: without it the settled
 * version goes to another page, with all its index entries. Pages that are full already stay so.
 */
export class Migration20261126021000_webhook_attention extends Migration {
  override name = 'Migration20261126021000_webhook_attention';

  override up(): void {
    this.addSql(`alter table "webhook_events" add "attention" text null;`);
    this.addSql(
      `create or replace function "webhook_events_webhook_events_attention_fn"() returns trigger as \$\$ begin update webhook_events set attention = case when new.status in ('parked', 'orphaned', 'anomaly') then new.status end where id = new.id; return null; end; \$\$ language plpgsql;`,
    );
    this.addSql(`create trigger "webhook_events_attention" AFTER INSERT OR UPDATE on "webhook_events" for each ROW
  when (new.attention is distinct from case when new.status in ('parked', 'orphaned', 'anomaly') then new.status end) execute function "webhook_events_webhook_events_attention_fn"();`);
    this.addSql(`alter table "webhook_events" set (fillfactor = 60);`);
  }

  override down(): void {
    this.addSql(`alter table "webhook_events" reset (fillfactor);`);
    this.addSql(`drop trigger if exists "webhook_events_attention" on "webhook_events";`);
    this.addSql(`drop function if exists "webhook_events_webhook_events_attention_fn"();`);
    this.addSql(`alter table "webhook_events" drop column "attention";`);
  }
}
