import { Migration } from '@mikro-orm/migrations';

export class Migration20261123201834_payee extends Migration {

  override name = 'Migration20261123201834_payee';

  override up(): void | Promise<void> {
    this.addSql(`alter table "pix_transactions" add "payee" jsonb null;`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "pix_transactions" drop column "payee";`);
  }

}
