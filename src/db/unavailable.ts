/** Classifies database errors: an unreachable database, a wait that is too long, a refused row. */

const networkCodes = new Set([
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
 * - classes 08 (connection exception), 28 (invalid authorization), 53 (out of resources);
 * - 57P01, 57P02, 57P03 and 57P05: the server stops, has crashed, starts, has ended an idle
 *   session;
 * - 25006: it is a replica that has not been promoted yet.
 */
const unavailableSqlstate = /^(?:(?:08|28|53)[0-9A-Z]{3}|57P0[1235]|25006)$/;

/** The messages of `pg` and its pool that have no code. */
const unavailableMessages = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'Query read timeout',
  'Client has encountered a connection error',
  'Client was closed and is not queryable',
];

/**
 * Marks the error of a connection that did not open: no statement was sent, whatever the SQLSTATE
 * says. The mark is a property, because MikroORM copies these into an error of its own.
 */
export function markUnopened(error: Error): Error {
  return Object.assign(error, { isUnopened: true });
}

/** Whether the database could not be reached or does not accept statements. */
export function isDatabaseUnavailable(error: unknown): boolean {
  return error instanceof Error && ('isUnopened' in error || saysUnavailable(error));
}

function saysUnavailable(error: Error): boolean {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (networkCodes.has(code) || unavailableSqlstate.test(code)) return true;
  return unavailableMessages.some((message) => error.message.startsWith(message));
}

/**
 * Whether PostgreSQL ended a statement because it waited or ran for too long, and rolled it back:
 * SQLSTATE 55P03 (lock_not_available), 57014 (query_canceled), 40P01 (deadlock_detected: one of
 * the statements was refused) and 40001 (serialization_failure: a server in recovery ends a
 * statement that it would have to wait for), PostgreSQL, appendix A.
 */
export function isWaitTooLong(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^(?:55P03|57014|40P01|40001)$/.test(code);
}

/** Whether a request failed because the database is unavailable or slow: a retry may succeed. */
export function isDatabaseTrouble(error: unknown): boolean {
  return isDatabaseUnavailable(error) || isWaitTooLong(error);
}

/**
 * Whether the database is unavailable for now, so that a start waits for it. A database that
 * refuses the user (class 28), or the connection for a lasting reason, is available. A failed
 * `listen` concerns an address of this service, not the database.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error) || ('syscall' in error && error.syscall === 'listen')) return false;
  const isRefusal = 'code' in error && /^28[0-9A-Z]{3}$/.test(String(error.code));
  return saysUnavailable(error) && !isRefusal;
}

/** Whether a row would violate a constraint: SQLSTATE class 23. */
export function isConstraintViolation(error: unknown): boolean {
  return error instanceof Error && 'code' in error && /^23[0-9A-Z]{3}$/.test(String(error.code));
}
