import { OnlineMigration } from '../src/db/online-migration.ts';

/** The keys that the provider has listed for an account: they may say who receives a PIX. */
export class Migration20261122225538_account_keys extends OnlineMigration {
  override name = 'Migration20261122225538_account_keys';

  override async up(): Promise<void> {
    this.addSql(`alter table "accounts" add column if not exists "pix_keys" text[] null;`);
    await this.createIndex({
      name: 'accounts_pix_keys_lookup',
      on: '"accounts" using gin ("pix_keys") where "pix_keys" is not null',
    });
  }

  override down(): void {
    this.dropIndex('accounts_pix_keys_lookup');
    this.addSql(`alter table "accounts" drop column if exists "pix_keys";`);
  }
}
