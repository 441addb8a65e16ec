import { Migration } from '@mikro-orm/migrations';

export class Migration20261121164047_timeline_key extends Migration {

  override name = 'Migration20261121164047_timeline_key';

  override up(): void | Promise<void> {
    this.addSql(`drop index "pix_timeline_transaction";`);
    this.addSql(`alter table "pix_timeline" drop constraint "pix_timeline_pkey";`);
    this.addSql(`alter table "pix_timeline" add primary key ("transaction_id", "id");`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "pix_timeline" drop constraint "pix_timeline_pkey";`);
    this.addSql(`create index "pix_timeline_transaction" on "pix_timeline" ("transaction_id", "id");`);
    this.addSql(`alter table "pix_timeline" add primary key ("id");`);
  }

}
