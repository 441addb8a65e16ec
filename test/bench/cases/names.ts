/** The cases, in the order in which they run. */
export const caseNames = [
  'read',
  'read-with-logins',
  'replay',
  'balance',
  'send',
  'webhook',
  'login',
] as const;

export type CaseName = (typeof caseNames)[number];
