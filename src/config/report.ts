/** Describes the settings and reports the effective configuration, without secrets. */
import { splitPublicPems } from './formats.ts';
import { type ConfigFault, type Environment, readSettings } from './load.ts';
import { entries, type SettingEntry, type SettingName, settingNames } from './schema.ts';

/** A converted setting. */
type Value = string | number | boolean;

export interface SettingReport {
  readonly name: SettingName;
  /** The effective value; `(set)` for a secret and for PEM; null when it is unset or invalid. */
  readonly value: Value | null;
  readonly from: 'environment' | '.env' | 'default' | 'unset';
  /** The error, which continues the name: "must be …". */
  readonly fault: string | null;
}

export interface ConfigReport {
  readonly valid: boolean;
  readonly settings: readonly SettingReport[];
  /** The errors, in the order of the settings. */
  readonly faults: readonly ConfigFault[];
}

/**
 * Reports every setting of an environment, valid or not.
 * @param fromDotEnv the names whose value comes from the `.env` file.
 */
export function reportConfig(
  environment: Environment,
  fromDotEnv: ReadonlySet<string> = new Set(),
): ConfigReport {
  const { values, given, faults } = readSettings(environment);
  const findSource = (name: SettingName) => (fromDotEnv.has(name) ? '.env' : 'environment');
  const messageByName = new Map(faults.map(({ name, message }) => [name, message]));
  const settings = settingNames.map((name): SettingReport => {
    const fault = messageByName.get(name) ?? null;
    const value = fault === null ? shown(name, values[name] as Value | undefined) : null;
    const otherwise = value === null ? 'unset' : 'default';
    return { name, value, from: given.has(name) ? findSource(name) : otherwise, fault };
  });
  return { valid: faults.length === 0, settings, faults };
}

function shown(name: SettingName, value: Value | undefined): SettingReport['value'] {
  if (value === undefined) return null;
  if (name === 'DATABASE_URL') return withoutSecrets(String(value)) ?? '(set)';
  if (name === 'JWT_PUBLIC_KEYS')
    return formatKeyCount(splitPublicPems(String(value))?.length ?? 0);
  const { isSecret, isPem }: SettingEntry = entries[name];
  return isSecret || isPem ? '(set)' : value;
}

function formatKeyCount(keys: number): string {
  return keys === 1 ? '1 key' : `${keys} keys`;
}

/**
 * Shows only the parts that hold no password, which may also be in the query.
 * @returns null for an address whose parts are not where they belong.
 */
function withoutSecrets(databaseUrl: string): string | null {
  const { protocol, username, host, pathname, searchParams } = new URL(databaseUrl);
  if (/[@:]/.test(pathname)) return null;
  const user = username === '' ? '' : `${username}@`;
  const mode = searchParams.get('sslmode');
  return `${protocol}//${user}${host}${pathname}${mode === null ? '' : `?sslmode=${mode}`}`;
}

/** One line of the list of settings. */
interface Setting {
  readonly name: string;
  /** The default as text: `3000`, `1500 in local; 0 in test`, `unset`. */
  readonly default: string;
  readonly meaning: string;
}

/** All settings, in the order of the handbook's table. */
export const settings: readonly Setting[] = settingNames.map((name) => ({
  name,
  default: describeDefault(entries[name]),
  meaning: entries[name].meaning,
}));

function describeDefault(entry: SettingEntry): string {
  if (entry.default !== undefined) return String(entry.default);
  const defaults = Object.entries(entry.defaultIn ?? {});
  const parts = [...Map.groupBy(defaults, ([, value]) => String(value))].map(
    ([value, pairs]) => `${value} in ${pairs.map(([appEnv]) => appEnv).join(', ')}`,
  );
  if (entry.requiredIn) parts.push(`required in ${entry.requiredIn.join(', ')}`);
  return parts.join('; ') || 'unset';
}
