import { OnlineMigration } from '../src/db/online-migration.ts';

/** Events that were stored before the column `attention`, and its index. */
export class Migration20261126021001_webhook_attention_index extends OnlineMigration {
  override name = 'Migration20261126021001_webhook_attention_index';

  override async up(): Promise<void> {
    for (;;) {
      const filled: unknown[] = await this.execute(fillSome);
      if (filled.length === 0) break;
    }
    await this.createIndex({
      name: 'webhook_events_attention',
      on: `"webhook_events" ("attention", "id") where "attention" is not null`,
    });
  }

  override down(): void {
    this.dropIndex('webhook_events_attention');
  }
}

/** Each part uses an index of the previous release. */
const fillSome = `
  update "webhook_events" set "attention" = "status"
   where "id" = any(array(
     select "id" from "webhook_events"
      where "status" = 'parked' and "attention" is null
      union all
     select "id" from "webhook_events"
      where "status" in ('orphaned', 'anomaly') and "attention" is null
      limit 2000))
  returning "id"`;
