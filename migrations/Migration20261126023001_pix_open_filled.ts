import { OnlineMigration } from '../src/db/online-migration.ts';

/** The open transactions that were stored before the table of them. */
export class Migration20261126023001_pix_open_filled extends OnlineMigration {
  override name = 'Migration20261126023001_pix_open_filled';

  override async up(): Promise<void> {
    for (;;) {
      const filled: unknown[] = await this.execute(fillSome);
      if (filled.length === 0) break;
    }
  }

  override down(): void {
    // The table is dropped by the migration before.
  }
}

/**
 * Each part uses an index of the previous release. The lock makes the end of a transaction wait for
 * its row, which that end then removes.
 */
const fillSome = `
  with unlisted as (
    select "id", "qr_code", "expires_at" from "pix_transactions" t
     where "id" = any(array(
       select "id" from "pix_transactions" t
        where "status" = 'PROCESSING' and "qr_code" is null
          and not exists (select from "pix_open" where "transaction_id" = t."id")
        union
       select "id" from "pix_transactions" t
        where "status" = 'PROCESSING' and "expires_at" is not null
          and not exists (select from "pix_open" where "transaction_id" = t."id")
        limit 2000))
       and "status" = 'PROCESSING'
     order by "id" for share of t
  )
  insert into "pix_open" ("transaction_id", "has_code", "expires_at")
  select "id", "qr_code" is not null, "expires_at" from unlisted
      on conflict do nothing
  returning "transaction_id"`;
