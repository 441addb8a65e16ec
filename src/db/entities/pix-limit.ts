import { defineEntity, p } from '@mikro-orm/core';
import type { EarlierLimits } from '../../domain/earlier-limits.ts';
import { nightHours, type NightHour, type StoredByPayee } from '../../domain/spending-limits.ts';
import { instant } from './columns.ts';
import { User } from './user.ts';

const amount = () => p.decimal().precision(15).scale(2).nullable();

/**
 * The limits of a user's sends. A null amount is the default of the settings, of the customer's own
 * no limit; `next` replaces a value at `nextAt`.
 */
export const PixLimit = defineEntity({
  name: 'PixLimit',
  tableName: 'pix_limits',
  properties: {
    user: () => p.manyToOne(User).primary().deleteRule('cascade'),
    /** Each reservation of a send and each change of limits adds 1, which detects conflicts. */
    version: p.integer().default(0),
    day: amount(),
    dayNext: amount(),
    dayNextAt: instant().nullable(),
    night: amount(),
    nightNext: amount(),
    nightNextAt: instant().nullable(),
    ownDay: amount(),
    ownDayNext: amount(),
    ownDayNextAt: instant().nullable(),
    ownNight: amount(),
    ownNightNext: amount(),
    ownNightNextAt: instant().nullable(),
    /** What the customer has set for companies and the own document; null: nothing. */
    ownByPayee: p.json<StoredByPayee>().nullable(),
    /** What the customer had set before, of which an operator restores one; null: nothing. */
    ownEarlier: p.json<readonly EarlierLimits[]>().nullable(),
    nightHour: p.smallint().$type<NightHour>().default(20),
    nightHourNext: p.smallint().$type<NightHour>().default(20),
    nightHourNextAt: instant().nullable(),
  },
  checks: [
    {
      name: 'pix_limits_amounts',
      expression: 'day >= 0 and day_next >= 0 and night >= 0 and night_next >= 0',
    },
    {
      name: 'pix_limits_own_amounts',
      expression: 'own_day >= 0 and own_day_next >= 0 and own_night >= 0 and own_night_next >= 0',
    },
    {
      name: 'pix_limits_hours',
      expression: ['night_hour', 'night_hour_next']
        .map((column) => `${column} in (${nightHours.join(', ')})`)
        .join(' and '),
    },
  ],
});
