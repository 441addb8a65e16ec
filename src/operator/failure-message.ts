/** Why a start or a command failed, in one sentence that says what to look at. */

import { isDatabaseUnavailable } from '../db/unavailable.ts';

interface Circumstances {
  readonly code?: unknown;
  readonly syscall?: unknown;
  readonly address?: string;
  readonly port?: number;
}

/** SQLSTATE codes that a first connection meets. */
const databaseRefusals: Readonly<Record<string, string>> = {
  '28000': 'the database refused the user of DATABASE_URL',
  '28P01': 'the database refused the user or the password of DATABASE_URL',
  '3D000': 'the database that DATABASE_URL names does not exist',
  '42501':
    'the user of DATABASE_URL lacks a right: after an upgrade run `ponte migrate up` as the migrator',
  '53300': 'the database has no connection left',
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
 * @param error what the start threw; what it was caused by is looked at first.
 * @param databaseUrl the configured one, to say which database could not be reached.
 * @returns a sentence without a stack trace and without a statement's values.
 */
export function startFailure(error: unknown, databaseUrl?: string): string {
  // It was made from its cause, by whoever knew which database that was about.
  if (error instanceof Error && error.name === 'UnreachableError') return error.message;
  for (const part of errorParts(error)) {
    const sentence = sentenceFor(part, databaseUrl);
    if (sentence) return sentence;
  }
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n', 1)[0] || 'the start failed';
}

/** An error, what it is made of and what caused it, the innermost first. */
export function errorParts(error: unknown, depth = 0): Error[] {
  if (!(error instanceof Error) || depth > 5) return [];
  const inner: unknown[] = error instanceof AggregateError ? error.errors : [];
  return [...[error.cause, ...inner].flatMap((part) => errorParts(part, depth + 1)), error];
}

function sentenceFor(error: Error & Circumstances, databaseUrl?: string): string | null {
  const { code, syscall, address, port } = error;
  const [, missing] = /^Cannot find package '([^']+)'/.exec(error.message) ?? [];
  if (missing !== undefined) return notInstalled(missing);
  // The driver's own words: a server that never answers, and one that hangs up.
  if (error.message === 'timeout exceeded when trying to connect') {
    return unreached('no answer', databaseUrl);
  }
  if (error.message.startsWith('Connection terminated')) {
    return unreached('the connection ended', databaseUrl);
  }
  if (typeof code !== 'string') return null;
  if (syscall === 'listen') {
    const place = [address, port].filter((part) => part !== undefined).join(':');
    if (code === 'EADDRINUSE') return `another process listens on ${place} already`;
    return `listening on ${place} is not possible (${code})`;
  }
  if (networkFailures.has(code)) return unreached(code, databaseUrl);
  if (Object.hasOwn(databaseRefusals, code)) return `${databaseRefusals[code]} (${code})`;
  // Any other SQLSTATE: the message would carry the statement.
  if (/^[0-9A-Z]{5}$/.test(code) && syscall === undefined) return `the database answered ${code}`;
  return null;
}

/** What PostgreSQL and the API need is always installed; the console is a tool of developers. */
function notInstalled(name: string): string {
  const isDatabase = name === '@electric-sql/pglite';
  const other = isDatabase ? 'set DATABASE_URL, or ' : '';
  const omitted = isDatabase ? 'optional' : 'dev';
  return `the package ${name} is not installed: ${other}run 'npm ci' without --omit=${omitted}`;
}

function unreached(reason: string, databaseUrl: string | undefined): string {
  if (databaseUrl === undefined) return `the database cannot be reached (${reason})`;
  const which = ['the database', placeOf(databaseUrl)].filter(Boolean).join(' ');
  return `${which} cannot be reached (${reason}): is DATABASE_URL right, is the server up?`;
}

/** Host, port and database. A password that is not encoded may stand behind the host: none then. */
function placeOf(databaseUrl: string): string | null {
  const { hostname, port, pathname, searchParams } = new URL(databaseUrl);
  const host = searchParams.get('host') ?? decodeURIComponent(hostname);
  const name = decodeURIComponent(pathname.slice(1));
  if (`${pathname}${host}`.includes('@')) return null;
  return `${name} at ${host || 'localhost'}:${searchParams.get('port') ?? (port || '5432')}`.trim();
}

/** What a command works on could not be reached; the message is a sentence for the operator. */
export class UnreachableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnreachableError';
  }
}

/**
 * @param databaseUrl the configured one, where there is one.
 * @returns what to say of an error, and whether it says that the database could not be reached: it
 *   is not there, lets nobody in, or accepts no work.
 */
export function failureOf(
  error: unknown,
  databaseUrl?: string,
): { message: string; unreachable: boolean } {
  const unreachable = errorParts(error).some(
    (part) => isDatabaseUnavailable(part) || ('code' in part && part.code === '3D000'),
  );
  return { message: startFailure(error, databaseUrl), unreachable };
}
