import { OnlineMigration } from '../src/db/online-migration.ts';

/**
 * What takes long on large tables: rows that release 1.2.0 has stored get their new values, indexes are
 * made and dropped concurrently, and the new checks are validated.
 *
 * A CPF is unique over the accounts that are ACTIVE or BLOCKED, and no longer over users: an
 * application that is not approved blocks no other.
 *
 * Contract step: no statement of release 1.2.0 needs what goes. The index of users refused a CPF a
 * second time; without it release 1.2.0 accepts one, as this release does. The indexes of the statuses
 * of events and transactions, and of all times of receipt, changed with every payment: `pix_open`,
 * `attention` and the ids of events replace them. Beside the new schema the sweep, the metrics, the
 * audit and the lists of events of release 1.2.0 read whole tables; what a customer or the provider
 * waits for does not use these indexes. Of `throttle_counters` only release 1.1.0 used the index and
 * the default.
 */
export class Migration20261128030003_filled_and_indexed extends OnlineMigration {

  override name = 'Migration20261128030003_filled_and_indexed';

  override async up(): Promise<void> {
    // First, because it fails where two accounts have one CPF.
    await this.createIndex({ name: 'accounts_cpf_unique', on: `"accounts" ("document") where length("document") = 11 and "status" in ('ACTIVE', 'BLOCKED')`, unique: true });
    await this.createIndex({ name: 'users_document_lookup', on: '"users" ("document") where "document" is not null' });
    await this.createIndex({ name: 'accounts_pix_keys_version', on: '"accounts" ("pix_keys_version") where "pix_keys_version" is not null' });
    this.addLongSql(`alter table "pix_limits" validate constraint "pix_limits_own_amounts"`);
    this.addLongSql(`alter table "security_events" validate constraint "security_events_kind_known"`);
    await this.createIndex({ name: 'security_events_counted', on: '"security_events" ("identity", "address", "hour") where "hour" is not null', unique: true });

    await this.repeat(listOpenTransactions);
    this.addLongSql(`alter table "pix_transactions" validate constraint "pix_transactions_valid_1"`);
    await this.createIndex({ name: 'pix_transactions_corrected', on: '"pix_transactions" ("corrected_at") where "corrected_at" is not null' });
    await this.createIndex({ name: 'pix_transactions_received_unique', on: '"pix_transactions" ("user_id", "received_txid") where "received_txid" is not null', unique: true });
    await this.createIndex({ name: 'pix_transactions_code', on: '"pix_transactions" ("user_id", "code_digest") where "code_digest" is not null' });
    await this.createIndex({ name: 'pix_transactions_code_payee', on: '"pix_transactions" ("user_id", "code_payee_digest") where "code_payee_digest" is not null' });
    await this.createIndex({ name: 'pix_transactions_code_key', on: '"pix_transactions" ("user_id", "code_key_digest") where "code_key_digest" is not null' });

    await this.repeat(fillAttention);
    await this.createIndex({ name: 'webhook_events_attention', on: '"webhook_events" ("attention", "id") where "attention" is not null' });

    for (const name of ['users_document_unique', 'pix_transactions_unsettled', 'pix_transactions_expiring', 'webhook_events_waiting', 'webhook_events_flagged', 'webhook_events_received', 'throttle_counters_window']) {
      this.dropIndex(name);
    }
    this.addSql(`alter table "throttle_counters" alter column "expires_at" drop default;`);
    this.addSql(hideFromReaders);
  }

  override async down(): Promise<void> {
    this.addSql(`alter table "throttle_counters" alter column "expires_at" set default '-infinity';`);
    await this.createIndex({ name: 'throttle_counters_window', on: '"throttle_counters" ("window_started_at")' });
    await this.createIndex({ name: 'webhook_events_received', on: '"webhook_events" ("received_at")' });
    await this.createIndex({ name: 'webhook_events_flagged', on: `"webhook_events" ("received_at") where "status" in ('orphaned', 'anomaly')` });
    await this.createIndex({ name: 'webhook_events_waiting', on: `"webhook_events" ("received_at") where "status" in ('received', 'parked')` });
    await this.createIndex({ name: 'pix_transactions_expiring', on: `"pix_transactions" ("expires_at") where "status" = 'PROCESSING' and "expires_at" is not null` });
    await this.createIndex({ name: 'pix_transactions_unsettled', on: `"pix_transactions" ("created_at") where "status" = 'PROCESSING' and "qr_code" is null` });
    await this.createIndex({ name: 'users_document_unique', on: '"users" ("document") where "document" is not null', unique: true });

    for (const name of ['security_events_counted', 'webhook_events_attention', 'pix_transactions_code', 'pix_transactions_code_payee', 'pix_transactions_received_unique', 'pix_transactions_corrected', 'accounts_pix_keys_version', 'users_document_lookup', 'accounts_cpf_unique']) {
      this.dropIndex(name);
    }
  }

  /** Runs a statement until it changes no row. */
  private async repeat(statement: string): Promise<void> {
    for (;;) {
      const changed: unknown[] = await this.execute(statement);
      if (changed.length === 0) return;
    }
  }

}

/**
 * Each part uses an index of release 1.2.0. The lock makes the end of a transaction wait for its row
 * in `pix_open`, which that end then removes.
 */
const listOpenTransactions = `
  with unlisted as (
    select "id", "qr_code", "expires_at" from "pix_transactions" t
     where "id" = any(array(
       select "id" from "pix_transactions" t
        where "status" = 'PROCESSING' and "qr_code" is null
          and not exists (select from "pix_open" where "transaction_id" = t."id")
        union all
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

/** Each part uses an index of release 1.2.0. */
const fillAttention = `
  update "webhook_events" set "attention" = "status"
   where "id" = any(array(
     select "id" from "webhook_events"
      where "status" = 'parked' and "attention" is null
      union all
     select "id" from "webhook_events"
      where "status" in ('orphaned', 'anomaly') and "attention" is null
      limit 2000))
  returning "id"`;

/**
 * Roles that only read every table of this owner, by `ponte migrate grants`, lose the columns with
 * hashes, sealed values, tokens and ids of applications: they had them also where the grants are not
 * run again.
 */
const hideFromReaders = `do $$
declare
  shown record;
begin
  for shown in
    select c.oid::regclass as name, reader.name as reader,
           string_agg(quote_ident(attname), ', ' order by attnum) as columns
      from pg_class c join pg_attribute on attrelid = c.oid and attnum > 0 and not attisdropped
      cross join (
        select a.grantee::regrole as name from pg_default_acl d, aclexplode(d.defaclacl) a
         where d.defaclrole = current_user::regrole and d.defaclobjtype = 'r'
           and d.defaclnamespace = 'public'::regnamespace and a.grantee <> 0
         group by a.grantee having array_agg(a.privilege_type) = '{SELECT}') reader
      left join (values ('accounts', 'provider_client_token'),
                        ('banking_sessions', 'sealed_token'),
                        ('onboarding_applications', 'id'),
                        ('onboarding_applications', 'client_token'),
                        ('onboarding_applications', 'sealed_code'),
                        ('onboarding_documents', 'application_id'),
                        ('onboarding_document_chunks', 'sealed_content'),
                        ('pix_disputes', 'details'),
                        ('users', 'password_hash')) hidden (table_name, column_name)
             on table_name = relname and column_name = attname
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
       and relname in ('accounts', 'banking_sessions', 'onboarding_applications',
                       'onboarding_documents', 'onboarding_document_chunks', 'pix_disputes', 'users')
       and column_name is null
     group by c.oid, reader.name
  loop
    execute format('revoke select on %s from %s', shown.name, shown.reader);
    execute format('grant select (%s) on %s to %s', shown.columns, shown.name, shown.reader);
  end loop;
end $$;`;
