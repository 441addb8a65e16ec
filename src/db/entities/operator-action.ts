import { defineEntity, p } from '@mikro-orm/core';
import { instant } from './columns.ts';

/** What an operator has changed. Rows are only ever added, in the commit of the change. */
export const OperatorAction = defineEntity({
  name: 'OperatorAction',
  tableName: 'operator_actions',
  properties: {
    id: p.bigint().primary().autoincrement(),
    at: instant(),
    /** The user of the system and, in brackets, the name in `--by`. */
    operator: p.text(),
    /** The command, such as `user disable`. */
    command: p.text(),
    /** What was changed, such as `user:42`. */
    target: p.text(),
    reason: p.text().nullable(),
    /** How it ended, in a word or two. */
    outcome: p.text(),
    /** The role that has written it; as the time, by the database and not by the writer. */
    databaseUser: p.text().nullable(),
  },
  indexes: [{ name: 'operator_actions_target', properties: ['target'] }],
  triggers: [
    {
      name: 'operator_actions_stamped',
      timing: 'before',
      events: ['insert'],
      body: 'new.at := clock_timestamp(); new.database_user := session_user; return new;',
    },
    {
      name: 'operator_actions_append_only',
      timing: 'before',
      events: ['update', 'delete'],
      body: "raise exception 'operator actions are only added to' using errcode = 'check_violation';",
    },
  ],
});
