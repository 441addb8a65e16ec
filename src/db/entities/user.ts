import { defineEntity, p } from '@mikro-orm/core';
import { instant, isOneOf } from './columns.ts';

/** A person or company that logs in. E-mails are compared without regard to case. */
export const User = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.integer().primary(),
    name: p.text(),
    email: p.text(),
    /** CPF or CNPJ without punctuation; text, because a CNPJ may hold letters. */
    document: p.text().nullable(),
    personType: p.text().$type<'PF' | 'PJ'>().nullable(),
    /** E.164. */
    phone: p.text().nullable(),
    /** argon2id, in PHC form. */
    passwordHash: p.text(),
    status: p.text().$type<'ACTIVE' | 'DISABLED'>().default('ACTIVE'),
    createdAt: instant(),
    updatedAt: instant(),
  },
  indexes: [
    {
      name: 'users_email_unique',
      expression: 'create unique index "users_email_unique" on "users" (lower("email"))',
    },
    {
      // Not unique: an application that is not approved blocks no other.
      name: 'users_document_lookup',
      expression:
        'create index "users_document_lookup" on "users" ("document") where "document" is not null',
    },
  ],
  checks: [
    { name: 'users_person_type_known', expression: isOneOf('person_type', ['PF', 'PJ']) },
    { name: 'users_status_known', expression: isOneOf('status', ['ACTIVE', 'DISABLED']) },
  ],
});
