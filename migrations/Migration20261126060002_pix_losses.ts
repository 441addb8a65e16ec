import { OnlineMigration } from '../src/db/online-migration.ts';

/** Whether a send was made around a loss of commits is read by an index, for each event. */
export class Migration20261126060002_pix_losses extends OnlineMigration {
  override name = 'Migration20261126060002_pix_losses';

  override async up(): Promise<void> {
    await this.createIndex({
      name: 'pix_pauses_losses',
      on: '"pix_pauses" ("lost_since") where "lost_since" is not null',
    });
  }

  override down(): void {
    this.dropIndex('pix_pauses_losses');
  }
}
