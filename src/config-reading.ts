/**
 * Reads settings out of an environment and validates them as a whole: every fault at once, by name,
 * with what is expected and never with the value, which may be secret.
 */
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { formats } from './config-formats.ts';
import { entries, settingNames, type SettingEntry, type SettingName } from './config-schema.ts';
import { appEnvs, type AppEnv, type Values } from './config-values.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What is wrong with one setting; the message continues its name: "must be …". */
export interface ConfigFault {
  readonly name: string;
  readonly message: string;
}

export interface ReadSettings {
  /** Converted, with defaults; what is at fault stays as it came. */
  readonly values: Readonly<Record<string, unknown>>;
  /** Those that were given a value, also through a file. */
  readonly given: ReadonlySet<string>;
  readonly faults: readonly ConfigFault[];
}

/** Reads every setting; an empty value counts as unset. Files are those of `…_FILE` settings. */
export function readSettings(environment: Environment): ReadSettings {
  const faults = new Map<SettingName, string>();
  const values = givenValues(environment);
  const fromFile = readFiles(values, faults);
  const given = new Set(Object.keys(values));
  const appEnv = appEnvs.find((known) => known === (values['APP_ENV'] ?? 'local'));
  const validate = ajv.compile<Values>(schemaOf(appEnv, fromFile));
  validate(values);
  for (const error of validate.errors ?? []) {
    const name = (error.params['missingProperty'] ?? error.instancePath.slice(1)) as SettingName;
    const missing = error.keyword === 'required';
    const blamed = fromFile.get(name) ?? name;
    if (!faults.has(blamed)) faults.set(blamed, faultMessage(name, { missing, blamed, appEnv }));
  }
  for (const [name, message] of ruleFaults(values, appEnv)) {
    if (!faults.has(name)) faults.set(name, message);
  }
  return { values, given, faults: inOrder(faults) };
}

// The schema is the service's own, and used once: neither checking nor optimising it pays.
const ajv = new Ajv({
  allErrors: true,
  useDefaults: true,
  formats,
  validateSchema: false,
  code: { optimize: false },
});

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

/** What cannot be converted stays text, so that validation refuses it. */
function convert(name: SettingName, value: string): unknown {
  const entry: SettingEntry = entries[name];
  if (entry.schema.type === 'integer') return /^\d{1,15}$/.test(value) ? Number(value) : value;
  if (entry.schema.type === 'boolean' && /^(true|false)$/.test(value)) return value === 'true';
  // Tools that write an environment on one line leave the line ends of a PEM as two characters.
  return entry.orFile ? value.replaceAll('\\n', '\n') : value;
}

/**
 * Puts the contents of the named files in the place of the settings that they stand for.
 * @returns which setting is to blame for a value that came from a file.
 */
function readFiles(
  values: Record<string, unknown>,
  faults: Map<SettingName, string>,
): Map<SettingName, SettingName> {
  const fromFile = new Map<SettingName, SettingName>();
  for (const name of settingNames) {
    const { orFile }: SettingEntry = entries[name];
    const path = orFile && values[orFile];
    if (!orFile || typeof path !== 'string') continue;
    if (values[name] !== undefined) {
      faults.set(orFile, `must not be set together with ${name}`);
      continue;
    }
    fromFile.set(name, orFile);
    try {
      values[name] = readFileSync(path, 'utf8');
    } catch (error) {
      faults.set(orFile, `names a file that cannot be read (${systemCode(error)})`);
    }
  }
  return fromFile;
}

/** What an unknown environment requires is not known; its own fault is enough. */
function schemaOf(appEnv: AppEnv | undefined, fromFile: ReadonlyMap<SettingName, unknown>): object {
  const properties = settingNames.map((name) => {
    const entry: SettingEntry = entries[name];
    const byEnv = appEnv && entry.defaultIn?.[appEnv];
    const fallback = entry.default ?? byEnv;
    const schema = fallback === undefined ? entry.schema : { ...entry.schema, default: fallback };
    return [name, schema] as const;
  });
  const required = settingNames.filter((name) => {
    const { requiredIn }: SettingEntry = entries[name];
    return appEnv && requiredIn?.includes(appEnv) && !fromFile.has(name);
  });
  return { type: 'object', properties: Object.fromEntries(properties), required };
}

function faultMessage(
  name: SettingName,
  fault: { missing: boolean; blamed: SettingName; appEnv: AppEnv | undefined },
): string {
  const { expected } = entries[name];
  if (fault.missing) return `is required in ${fault.appEnv}: ${expected}`;
  return fault.blamed === name ? `must be ${expected}` : `must name a file with ${expected}`;
}

/** The rules that look at two settings at once. */
function* ruleFaults(
  values: Partial<Values>,
  appEnv: AppEnv | undefined,
): Generator<[SettingName, string]> {
  if (values.PROVIDER_STUB === false && values.PROVIDER_BASE_URL === undefined) {
    const { expected } = entries.PROVIDER_BASE_URL;
    yield ['PROVIDER_BASE_URL', `is required when PROVIDER_STUB is false: ${expected}`];
  }
  if (appEnv !== 'production') return;
  if (values.PROVIDER_STUB) yield ['PROVIDER_STUB', 'must be `false` in production'];
  for (const name of ['THROTTLE_LOGIN_PER_MINUTE', 'THROTTLE_ADDRESS_PER_MINUTE'] as const) {
    if (values[name] === 0) yield [name, 'must not be 0 in production'];
  }
}

/** The code of a failed system call. */
export function systemCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
}
