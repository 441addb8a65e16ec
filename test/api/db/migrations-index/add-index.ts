import { OnlineMigration } from '../../../../src/db/online-migration.ts';

/** Makes an index of a table that every payment writes to. */
export class AddIndex extends OnlineMigration {
  override async up(): Promise<void> {
    await this.createIndex({ name: 'test_index', on: '"pix_timeline" ("note")' });
  }
}
