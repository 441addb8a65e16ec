/** Tells a database that cannot be reached from a statement that is wrong. */

const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EPIPE',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/**
 * SQLSTATEs (PostgreSQL, appendix A):
 *
 * - classes 08 (connection exception), 28 (the server does not let us in), 53 (out of resources);
 * - 57P01, 57P02, 57P03 and 57P05: the server stops, has crashed, starts, has ended an idle
 *   session;
 * - 25006: it is a replica that has not been promoted yet.
 */
const UNAVAILABLE_SQLSTATE = /^(?:(?:08|28|53)[0-9A-Z]{3}|57P0[1235]|25006)$/;

/** What `pg` and its pool say without a code. */
const UNAVAILABLE_MESSAGES = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'Query read timeout',
  'Client has encountered a connection error',
  'Client was closed and is not queryable',
];

/** Whether an error says that the database could not be reached or is not accepting work. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (NETWORK_CODES.has(code) || UNAVAILABLE_SQLSTATE.test(code)) return true;
  return UNAVAILABLE_MESSAGES.some((message) => error.message.startsWith(message));
}

/** Whether an error says that a row would break a constraint: SQLSTATE class 23. */
export function isConstraintViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^23[0-9A-Z]{3}$/.test(String(error.code));
}
