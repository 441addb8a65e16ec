import { defineEntity, p } from '@mikro-orm/core';
import { instant, isOneOf } from './columns.ts';
import { User } from './user.ts';

/** A login at the provider: it holds the one provider token of its user, sealed. */
export const BankingSession = defineEntity({
  name: 'BankingSession',
  tableName: 'banking_sessions',
  properties: {
    id: p.uuid().primary(),
    user: () => p.manyToOne(User).deleteRule('restrict'),
    status: p.text().$type<'ACTIVE' | 'ENDED' | 'EXPIRED'>(),
    /** Sealed for the user; destroyed when the session ends. */
    sealedToken: p.blob().nullable(),
    /** When the provider's token ends, where the provider says so. */
    tokenExpiresAt: instant().nullable(),
    createdAt: instant(),
    renewedAt: instant(),
    endedAt: instant().nullable(),
    /** When its tokens ceased to identify a device: a logout, a reset, or the user is disabled. */
    voidedAt: instant().nullable(),
  },
  indexes: [
    {
      name: 'banking_sessions_expiring',
      expression:
        'create index "banking_sessions_expiring" on "banking_sessions" ("token_expires_at") where "status" = \'ACTIVE\'',
    },
    {
      name: 'banking_sessions_one_active',
      expression:
        'create unique index "banking_sessions_one_active" on "banking_sessions" ("user_id") where "status" = \'ACTIVE\'',
    },
  ],
  checks: [
    {
      name: 'banking_sessions_status_known',
      expression: isOneOf('status', ['ACTIVE', 'ENDED', 'EXPIRED']),
    },
    {
      name: 'banking_sessions_token_while_active',
      expression: "(status = 'ACTIVE') = (sealed_token is not null)",
    },
    {
      name: 'banking_sessions_end_dated',
      expression: "(status = 'ACTIVE') = (ended_at is null)",
    },
  ],
});
