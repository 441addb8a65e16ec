/**
 * Reads the settings of an environment and validates them as a whole. All errors are reported at
 * once, by name and with the expected format, but never with the value, which may be secret.
 */
import { readFileSync } from 'node:fs';
import { Ajv, type ErrorObject } from 'ajv';
import { appEnvs, type AppEnv, type Value, type ValueFormat } from './entry.ts';
import { formats } from './formats.ts';
import { findBreaches, isLocal, type Breach } from './rules.ts';
import { entries, settingNames, type SettingEntry, type SettingName } from './schema.ts';
import type { Values } from './values.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The error of one setting; the message continues its name: "must be …". */
export interface ConfigFault {
  readonly name: string;
  readonly message: string;
}

export interface ReadSettings {
  /** Converted values with defaults; invalid values are unchanged. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The settings that have a value in the environment or in a file. */
  readonly given: ReadonlySet<string>;
  readonly faults: readonly ConfigFault[];
}

/** Reads every setting, and the files of `…_FILE` settings; an empty value counts as unset. */
export function readSettings(environment: Environment): ReadSettings {
  const faults = new Map<SettingName, string>();
  const values = givenValues(environment);
  const fromFile = readFiles(values, faults);
  const given = new Set(Object.keys(values));
  const appEnv = resolveAppEnv(values);
  if (appEnv) values['APP_ENV'] = appEnv;
  const validate = ajv.compile<Values>(findSchema(appEnv, given, fromFile));
  validate(values);
  for (const name of settingNames) values[name] ??= findDefault(name, appEnv);
  const note = (breach: Breach): void => {
    const blamed = fromFile.get(breach.name) ?? breach.name;
    // A setting is reported once: an unreadable file is already an error.
    if (!faults.has(blamed)) faults.set(blamed, faultMessage(breach, blamed));
  };
  for (const error of validate.errors ?? []) note(toBreach(error, appEnv));
  for (const breach of findBreaches(values, appEnv)) note(breach);
  return { values, given, faults: [...inOrder(faults), ...processFaults(environment, appEnv)] };
}

/**
 * @returns APP_ENV or, if it is unset, `local` if the stub is on and HOST is a loopback address;
 *   otherwise undefined.
 */
function resolveAppEnv({ APP_ENV: named, ...values }: Partial<Values>): AppEnv | undefined {
  if (named !== undefined) return appEnvs.find((known) => known === named);
  return isLocal(values) ? 'local' : undefined;
}

// A process uses few schemas, and each rarely: validating and optimising them would cost more.
const ajv = new Ajv({
  allErrors: true,
  formats,
  validateSchema: false,
  code: { optimize: false },
});

/** With `NODE_TLS_REJECT_UNAUTHORIZED=0`, Node verifies no TLS certificate. */
function processFaults(environment: Environment, appEnv: AppEnv | undefined): ConfigFault[] {
  const name = 'NODE_TLS_REJECT_UNAUTHORIZED';
  if (appEnv !== 'production' || environment[name] !== '0') return [];
  return [{ name, message: 'must not be 0 in production: no TLS certificate would be verified' }];
}

function inOrder(faults: ReadonlyMap<SettingName, string>): ConfigFault[] {
  return settingNames.flatMap((name) => {
    const message = faults.get(name);
    return message === undefined ? [] : [{ name, message }];
  });
}

function givenValues(environment: Environment): Record<string, unknown> {
  const given = settingNames.flatMap((name) => {
    const value = environment[name];
    return value === undefined || value === '' ? [] : [[name, convert(name, value)] as const];
  });
  return Object.fromEntries(given);
}

/** A value that cannot be converted stays a text, which validation refuses. */
function convert(name: SettingName, value: string): unknown {
  const entry: SettingEntry = entries[name];
  if (entry.schema.type === 'integer') return /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (entry.schema.type === 'boolean' && /^(true|false)$/.test(value)) return value === 'true';
  // Some tools write the line ends of a PEM as the two characters `\n`.
  return entry.isPem ? value.replaceAll('\\n', '\n') : value;
}

/**
 * Reads the files of `…_FILE` settings into the settings that they replace.
 * @returns the `…_FILE` setting of each setting that was read from a file.
 */
function readFiles(
  values: Record<string, unknown>,
  faults: Map<SettingName, string>,
): Map<SettingName, SettingName> {
  const fromFile = new Map<SettingName, SettingName>();
  for (const name of settingNames) {
    const { orFile, isPem }: SettingEntry = entries[name];
    const path = orFile && values[orFile];
    if (!orFile || typeof path !== 'string') continue;
    if (values[name] !== undefined) {
      faults.set(orFile, `must not be set together with ${name}`);
      continue;
    }
    fromFile.set(name, orFile);
    try {
      const content = readFileSync(path, 'utf8');
      // Editors and `echo` append a line end, which is not part of a secret.
      if (content.trim() === '') faults.set(orFile, 'names a file that is empty');
      else values[name] = isPem ? content : content.replace(/[\r\n]+$/, '');
    } catch (error) {
      faults.set(orFile, `names a file that cannot be read (${systemCode(error)})`);
    }
  }
  return fromFile;
}

const schemas = new Map<string, object>();

function findDefault(name: SettingName, appEnv: AppEnv | undefined): Value | undefined {
  const entry: SettingEntry = entries[name];
  return entry.default ?? (appEnv && entry.defaultIn?.[appEnv]);
}

/** AJV compiles a schema once: for the same settings this returns the same object. */
function findSchema(
  appEnv: AppEnv | undefined,
  given: ReadonlySet<string>,
  fromFile: ReadonlyMap<SettingName, unknown>,
): object {
  const key = [appEnv, ...given, '', ...fromFile.keys()].join(' ');
  const schema = schemas.get(key) ?? buildSchema(appEnv, given, fromFile);
  schemas.set(key, schema);
  return schema;
}

/**
 * The schema of the settings that are given: compiling all of them would take a tenth of a
 * command's time. In an unknown environment no setting is required; the environment itself is an
 * error.
 */
function buildSchema(
  appEnv: AppEnv | undefined,
  given: ReadonlySet<string>,
  fromFile: ReadonlyMap<SettingName, unknown>,
): object {
  const properties = settingNames
    .filter((name) => given.has(name))
    .map((name) => [name, formatFor(appEnv, entries[name]).schema] as const);
  const required = settingNames.filter((name) => {
    const { requiredIn }: SettingEntry = entries[name];
    return appEnv && requiredIn?.includes(appEnv) && !fromFile.has(name);
  });
  return { type: 'object', properties: Object.fromEntries(properties), required };
}

function formatFor(
  appEnv: AppEnv | undefined,
  entry: SettingEntry,
): ValueFormat & { when?: string } {
  if (appEnv !== 'production' || !entry.inProduction) return entry;
  return { ...entry.inProduction, when: 'in production' };
}

function toBreach(error: ErrorObject, appEnv: AppEnv | undefined): Breach {
  const name = (error.params['missingProperty'] ?? error.instancePath.slice(1)) as SettingName;
  const { expected, when } = formatFor(appEnv, entries[name]);
  if (error.keyword === 'required')
    return { name, isMissing: true, expected, when: `in ${appEnv}` };
  return { name, expected, ...(when && { when }) };
}

function faultMessage({ name, isMissing, expected, when }: Breach, blamed: SettingName): string {
  if (isMissing) {
    const { orFile }: SettingEntry = entries[name];
    const file = orFile ? ` (or ${orFile} names a file with it)` : '';
    return `is required ${when}: ${expected}${file}`;
  }
  const must = blamed === name ? 'must be' : 'must name a file with';
  return [must, expected, when].filter(Boolean).join(' ');
}

/** The code of a failed system call. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
