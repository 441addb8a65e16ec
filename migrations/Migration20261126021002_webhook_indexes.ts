import { OnlineMigration } from '../src/db/online-migration.ts';

/**
 * The indexes of statuses and of all times of receipt: the first changed with every event that is
 * settled, and an id has the time of its receipt.
 *
 * Contract step: no statement of release 1.2.0 depends on them. Beside the new schema its metrics,
 * audit and lists of events read the whole table; what a customer or the provider waits for does
 * not use these indexes.
 */
export class Migration20261126021002_webhook_indexes extends OnlineMigration {
  override name = 'Migration20261126021002_webhook_indexes';

  override up(): void {
    this.dropIndex('webhook_events_waiting');
    this.dropIndex('webhook_events_flagged');
    this.dropIndex('webhook_events_received');
  }

  override async down(): Promise<void> {
    await this.createIndex({ name: 'webhook_events_received', on: `"webhook_events" ("received_at")` });
    await this.createIndex({
      name: 'webhook_events_flagged',
      on: `"webhook_events" ("received_at") where "status" in ('orphaned', 'anomaly')`,
    });
    await this.createIndex({
      name: 'webhook_events_waiting',
      on: `"webhook_events" ("received_at") where "status" in ('received', 'parked')`,
    });
  }
}
