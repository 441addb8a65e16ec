import { defineEntity, p } from '@mikro-orm/core';
import { instant } from './columns.ts';
import { User } from './user.ts';

/**
 * A payment in the provider's statement, made while commits were lost, that no transaction records
 * and no id of the app names. Until it is accounted for, the user sends nothing of its amount. A
 * provider that confuses ids may show several amounts under one of them: each is a row.
 */
export const PixUnaccountedLine = defineEntity({
  name: 'PixUnaccountedLine',
  tableName: 'pix_unaccounted_lines',
  properties: {
    endToEnd: p.text().primary(),
    user: () => p.manyToOne(User).primary().deleteRule('restrict'),
    amount: p.decimal().precision(15).scale(2).primary(),
    foundAt: instant(),
    /** When an operator has accounted for it; null: it blocks. */
    accountedAt: instant().nullable(),
  },
  indexes: [
    {
      name: 'pix_unaccounted_lines_blocking',
      expression:
        'create index "pix_unaccounted_lines_blocking" on "pix_unaccounted_lines" ("user_id", "amount") where "accounted_at" is null',
    },
  ],
  checks: [{ name: 'pix_unaccounted_lines_amount_positive', expression: 'amount > 0' }],
});
