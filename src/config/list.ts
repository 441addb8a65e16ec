/** The list of settings for the handbook and `.env.example`. */
import type { SettingEntry } from './entry.ts';
import { entries, settingNames } from './schema.ts';

/** One line of the list of settings. */
export interface Setting {
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
