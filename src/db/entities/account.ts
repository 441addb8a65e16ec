import { defineEntity, p } from '@mikro-orm/core';
import { accountStatuses, type AccountStatus } from '../../domain/account.ts';
import { instant, isOneOf } from './columns.ts';
import { User } from './user.ts';

/** The bank account of a user, who has at most one. */
export const Account = defineEntity({
  name: 'Account',
  tableName: 'accounts',
  properties: {
    id: p.integer().primary(),
    user: () => p.manyToOne(User).unique('accounts_user_unique').deleteRule('restrict'),
    /** The holder of the account: `provider`, or `local` for one that was opened only here. */
    provider: p.text(),
    agency: p.text().nullable(),
    accountNumber: p.text().nullable(),
    /** CPF or CNPJ of the holder, without punctuation. */
    document: p.text().nullable(),
    status: p.text().$type<AccountStatus>(),
    providerCompanyId: p.text().nullable(),
    providerClientToken: p.text().nullable(),
    /** The Pix keys that the provider listed most recently, in the directory's format. */
    pixKeys: p.array().nullable(),
    /** Grows with each change of the stored keys of any account. */
    pixKeysVersion: p.bigint().nullable(),
    /** The last balance that the provider reported, and when. */
    balance: p.decimal().precision(15).scale(2).nullable(),
    balanceReadAt: instant().nullable(),
    /**
     * The last loss of commits (a row of `pix_pauses`) since which the statement was read whole; 0:
     * none.
     */
    lossRead: p.integer().default(0),
    /** The last open difference that blocks orders (`blocks`); null: none does. */
    blockedBy: p.bigint().nullable(),
    /** When a login has last named another account than the stored one; null: none has. */
    renumberedAt: instant().nullable(),
    createdAt: instant(),
    updatedAt: instant(),
  },
  indexes: [
    {
      name: 'accounts_local_number_unique',
      expression:
        'create unique index "accounts_local_number_unique" on "accounts" ("agency", "account_number") where "provider" = \'local\'',
    },
    {
      name: 'accounts_number_lookup',
      expression:
        'create index "accounts_number_lookup" on "accounts" ("account_number") where "account_number" is not null',
    },
    {
      name: 'accounts_document_lookup',
      expression:
        'create index "accounts_document_lookup" on "accounts" ("document") where "document" is not null',
    },
    {
      // A person has one account here; a company may have several users.
      name: 'accounts_cpf_unique',
      expression:
        'create unique index "accounts_cpf_unique" on "accounts" ("document") where length("document") = 11 and "status" in (\'ACTIVE\', \'BLOCKED\')',
    },
    {
      name: 'accounts_pix_keys_lookup',
      expression:
        'create index "accounts_pix_keys_lookup" on "accounts" using gin ("pix_keys") where "pix_keys" is not null',
    },
    {
      name: 'accounts_pix_keys_version',
      expression:
        'create index "accounts_pix_keys_version" on "accounts" ("pix_keys_version") where "pix_keys_version" is not null',
    },
  ],
  checks: [
    {
      name: 'accounts_status_known',
      expression: isOneOf('status', accountStatuses),
    },
    { name: 'accounts_provider_known', expression: isOneOf('provider', ['provider', 'local']) },
    {
      name: 'accounts_balance_dated',
      expression: '(balance is null) = (balance_read_at is null)',
    },
  ],
});
