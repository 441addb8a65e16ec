/** Explains why a start or a command failed, in one sentence that says what to check. */

import { isDatabaseUnavailable } from '../db/unavailable.ts';

interface Circumstances {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly address?: string;
  readonly port?: number;
  /** Of the database: the constraint or the index that refused a row. */
  readonly constraint?: string;
}

/** A statement that was prepared in one session is missing in another, or there already. */
const sharedSessions =
  'DATABASE_URL leads to a pooler that shares sessions: see `ponte config check`';

/** SQLSTATE codes whose cause an operator can remove. */
const databaseRefusals: Readonly<Record<string, string>> = {
  '28000': 'the database refused the user of DATABASE_URL',
  '28P01': 'the database refused the user or the password of DATABASE_URL',
  '3D000': 'the database that DATABASE_URL names does not exist',
  '42501':
    'the user of DATABASE_URL lacks a right: migrations need the migrator; ' +
    'after an upgrade run `ponte migrate up` as the migrator',
  '25006': 'the database is read-only: is it a standby that was not promoted?',
  '26000': sharedSessions,
  '42P05': sharedSessions,
  '53100': 'the disk of the database is full',
  '53300': 'the database has no connection left',
  '55000': 'the database does not accept connections, or is not ready for this: see its own log',
  '55P03': 'another transaction holds what this needs: run it again (pg_stat_activity lists it)',
  '57014': 'the database ended a statement that took too long: run it again when it has less to do',
  '57P01': 'the database has ended the connection: run it again',
  '57P03': 'the database is not ready yet',
};

const networkFailures = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
]);

/**
 * @param error what the start threw; its innermost cause takes precedence.
 * @param databaseUrl names the database that could not be reached.
 * @returns a sentence without a stack trace and without a statement's values.
 */
export function startFailure(error: unknown, databaseUrl?: string): string {
  if (error instanceof UnreachableError) return error.message;
  for (const part of errorParts(error)) {
    const sentence = sentenceFor(part, databaseUrl);
    if (sentence) return sentence;
  }
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n', 1)[0] || 'the start failed';
}

/** An error, its parts and its causes, the innermost first. */
export function errorParts(error: unknown, depth = 0): Error[] {
  if (!(error instanceof Error) || depth > 5) return [];
  const inner: unknown[] = error instanceof AggregateError ? error.errors : [];
  return [...[error.cause, ...inner].flatMap((part) => errorParts(part, depth + 1)), error];
}

function sentenceFor(error: Error & Circumstances, databaseUrl?: string): string | null {
  const { code, syscall, address, port, constraint } = error;
  const [, missing] = /^Cannot find package '([^']+)'/.exec(error.message) ?? [];
  if (missing !== undefined) return notInstalled(missing);
  // Its module would load the embedded database.
  if (error.name === 'FolderInUseError') {
    const wait = 'stop the service, or wait for the command that uses it';
    return `${error.message}: ${wait}; or set DATA_DIR or DATABASE_URL`;
  }
  // The driver's messages for a server that does not answer, and for one that disconnects.
  if (error.message === 'timeout exceeded when trying to connect') {
    return unreached('no response', databaseUrl);
  }
  if (error.message === 'The server does not support SSL connections') {
    return unreached('it offers no TLS, which sslmode in DATABASE_URL demands', databaseUrl);
  }
  if (error.message.startsWith('Connection terminated')) {
    return unreached('the connection ended', databaseUrl);
  }
  if (typeof code !== 'string') return null;
  if (syscall === 'listen') {
    const place = [address, port].filter((part) => part !== undefined).join(':');
    if (code === 'EADDRINUSE') return `another process already listens on ${place}`;
    return `cannot listen on ${place} (${code})`;
  }
  if (networkFailures.has(code)) return unreached(code, databaseUrl);
  if (Object.hasOwn(databaseRefusals, code)) return `${databaseRefusals[code]} (${code})`;
  // The message of any other SQLSTATE would contain the statement.
  if (!/^[0-9A-Z]{5}$/.test(code) || syscall !== undefined) return null;
  return `the database answered ${code}${constraint === undefined ? '' : ` (${constraint})`}`;
}

/** The embedded database is an optional dependency, and the console's are for development. */
function notInstalled(name: string): string {
  const isDatabase = name === '@electric-sql/pglite';
  const other = isDatabase ? 'set DATABASE_URL, or ' : '';
  const omitted = isDatabase ? 'optional' : 'dev';
  return `the package ${name} is not installed: ${other}run 'npm ci' without --omit=${omitted}`;
}

function unreached(reason: string, databaseUrl: string | undefined): string {
  if (databaseUrl === undefined) return `the database cannot be reached (${reason})`;
  const which = ['the database', formatPlace(databaseUrl)].filter(Boolean).join(' ');
  return `${which} cannot be reached (${reason}): is DATABASE_URL right, is the server up?`;
}

/** Formats host, port and database; null if they may contain a password that is not encoded. */
function formatPlace(databaseUrl: string): string | null {
  const { hostname, port, pathname, searchParams } = new URL(databaseUrl);
  const host = searchParams.get('host') ?? decodeURIComponent(hostname);
  const name = decodeURIComponent(pathname.slice(1));
  if (`${pathname}${host}`.includes('@')) return null;
  return `${name} at ${host || 'localhost'}:${searchParams.get('port') ?? (port || '5432')}`.trim();
}

/** The database or the service could not be reached; the message is for the operator. */
export class UnreachableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnreachableError';
  }
}

/**
 * @param databaseUrl names the database that could not be reached.
 * @returns the message of an error, and whether the database could not be reached: it does not
 *   exist, refuses the connection, or is not available.
 */
export function describeFailure(
  error: unknown,
  databaseUrl?: string,
): { message: string; unreachable: boolean } {
  const unreachable = errorParts(error).some(
    (part) => isDatabaseUnavailable(part) || ('code' in part && part.code === '3D000'),
  );
  return { message: startFailure(error, databaseUrl), unreachable };
}
