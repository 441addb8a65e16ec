import { defineEntity, p } from '@mikro-orm/core';
import { instant } from './columns.ts';
import { User } from './user.ts';

/** An address that a user has logged in from; it is stored as a keyed digest. */
export const LoginAddress = defineEntity({
  name: 'LoginAddress',
  tableName: 'login_addresses',
  properties: {
    user: () => p.manyToOne(User).primary().deleteRule('cascade'),
    addressDigest: p.blob().$type<Buffer>().primary(),
    lastLoginAt: instant(),
  },
  indexes: [{ name: 'login_addresses_age', properties: ['lastLoginAt'] }],
});
