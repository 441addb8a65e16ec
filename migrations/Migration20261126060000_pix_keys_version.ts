import { Migration } from '@mikro-orm/migrations';

/** The order of the changes of stored PIX keys, which the clocks of processes do not give. */
export class Migration20261126060000_pix_keys_version extends Migration {
  override name = 'Migration20261126060000_pix_keys_version';

  override up(): void {
    this.addSql(`alter table "accounts" add "pix_keys_version" bigint null;`);
  }

  override down(): void {
    this.addSql(`alter table "accounts" drop column "pix_keys_version";`);
  }
}
