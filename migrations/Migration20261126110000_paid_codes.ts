import { Migration } from '@mikro-orm/migrations';

/** The charge of a dynamic code that a send pays. */
export class Migration20261126110000_paid_codes extends Migration {
  override name = 'Migration20261126110000_paid_codes';

  override up(): void {
    this.addSql(`alter table "pix_transactions" add "code_digest" bytea null;`);
    this.addSql(
      `alter table "pix_transactions" add constraint "pix_transactions_code_of_send" check (code_digest is null or operation = 'SEND') not valid;`,
    );
  }

  override down(): void {
    this.addSql(
      `alter table "pix_transactions" drop constraint "pix_transactions_code_of_send";`,
    );
    this.addSql(`alter table "pix_transactions" drop column "code_digest";`);
  }
}
