import { OnlineMigration } from '../src/db/online-migration.ts';

/** The newest version of stored PIX keys is found without a scan. */
export class Migration20261126060001_pix_keys_version_indexed extends OnlineMigration {
  override name = 'Migration20261126060001_pix_keys_version_indexed';

  override async up(): Promise<void> {
    await this.createIndex({
      name: 'accounts_pix_keys_version',
      on: '"accounts" ("pix_keys_version") where "pix_keys_version" is not null',
    });
  }

  override down(): void {
    this.dropIndex('accounts_pix_keys_version');
  }
}
