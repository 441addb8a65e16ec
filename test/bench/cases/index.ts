/** The cases by name. */
import { balance, login } from './access.ts';
import type { Case } from './case.ts';
import type { CaseName } from './names.ts';
import { replay, send } from './payments.ts';
import { read, readWithLogins } from './read.ts';
import { webhook } from './webhook.ts';

export const cases: Readonly<Record<CaseName, Case>> = {
  read,
  'read-with-logins': readWithLogins,
  replay,
  balance,
  send,
  webhook,
  login,
};
