/** The kinds of events in the security log of a user. */
export const securityEventKinds = [
  'login',
  'login_refused',
  'password_reset',
  'session_revoked',
  'user_disabled',
  'user_enabled',
  'limits_changed',
  'password_refused',
] as const;

export type SecurityEventKind = (typeof securityEventKinds)[number];
