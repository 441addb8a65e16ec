import { Migration } from '@mikro-orm/migrations';

export class Migration20261121142148_key_first extends Migration {

  override name = 'Migration20261121142148_key_first';

  override up(): void | Promise<void> {
    this.addSql(`drop index "pix_transactions_client_request";`);
    this.addSql(`alter table "pix_transactions" drop constraint "pix_transactions_idempotency_unique";`);
    this.addSql(`alter table "pix_transactions" add constraint "pix_transactions_idempotency_unique" unique ("idempotency_key", "user_id", "operation");`);
  }

  override down(): void | Promise<void> {
    this.addSql(`alter table "pix_transactions" drop constraint "pix_transactions_idempotency_unique";`);
    this.addSql(`create index "pix_transactions_client_request" on "pix_transactions" ("idempotency_key") where "operation" = 'SEND';`);
    this.addSql(`alter table "pix_transactions" add constraint "pix_transactions_idempotency_unique" unique ("user_id", "operation", "idempotency_key");`);
  }

}
