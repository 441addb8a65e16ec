import { Migration } from '@mikro-orm/migrations';

/** When the provider has reported first that it holds a send for analysis. */
export class Migration20261126021136_held_sends extends Migration {
  override name = 'Migration20261126021136_held_sends';

  override up(): void {
    this.addSql(`alter table "pix_transactions" add "held_at" timestamptz(3) null;`);
  }

  override down(): void {
    this.addSql(`alter table "pix_transactions" drop column "held_at";`);
  }
}
