import { Migration } from '@mikro-orm/migrations';

/** The new name of "wanted", which a later release drops: release 1.2.0 writes it. */
export class Migration20261126090000_job_rerun_requested extends Migration {
  override name = 'Migration20261126090000_job_rerun_requested';

  override up(): void {
    this.addSql(`alter table "jobs" add "rerun_requested" boolean not null default false;`);
  }

  override down(): void {
    this.addSql(`alter table "jobs" drop column "rerun_requested";`);
  }
}
