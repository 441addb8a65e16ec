import { OnlineMigration } from '../src/db/online-migration.ts';

/**
 * A CPF is unique over the accounts that are ACTIVE or BLOCKED, and no longer over users: an
 * application that is not approved blocks no other.
 *
 * Contract step: no statement of release 1.1.0 names the index of users. Its registrations relied on
 * it to refuse a CPF a second time; without it they accept one, as this release does.
 */
export class Migration20261125143501_cpf_of_accounts extends OnlineMigration {
  override name = 'Migration20261125143501_cpf_of_accounts';

  override async up(): Promise<void> {
    await this.createIndex({
      name: 'accounts_cpf_unique',
      on: `"accounts" ("document") where length("document") = 11 and "status" in ('ACTIVE', 'BLOCKED')`,
      unique: true,
    });
    await this.createIndex({
      name: 'users_document_lookup',
      on: '"users" ("document") where "document" is not null',
    });
    this.dropIndex('users_document_unique');
  }

  override down(): void {
    this.addLongSql(
      `create unique index concurrently if not exists "users_document_unique" on "users" ("document") where "document" is not null`,
    );
    this.dropIndex('users_document_lookup');
    this.dropIndex('accounts_cpf_unique');
  }
}
