import { Migration } from '@mikro-orm/migrations';

/** Needs an ACCESS EXCLUSIVE lock on a table that every request reads. */
export class AddColumn extends Migration {
  override up(): void {
    this.addSql('alter table "pix_transactions" add "test_column" text null');
  }
}
