/** The types of the settings' values, which follow from their schemas. */
import type { AppEnv } from './entry.ts';
import type { Entries, SettingName } from './schema.ts';

/** A setting that has a value in every environment: a default, or the environment requires it. */
type SetName = {
  [Name in SettingName]: Entries[Name] extends { default: unknown }
    ? Name
    : AppEnv extends DefaultEnvs<Entries[Name]> | RequiredEnvs<Entries[Name]>
      ? Name
      : never;
}[SettingName];

type DefaultEnvs<Setting> = Setting extends { defaultIn: infer Defaults } ? keyof Defaults : never;

type RequiredEnvs<Setting> = Setting extends { requiredIn: readonly (infer Env)[] } ? Env : never;

type Converted<Schema> = Schema extends { enum: readonly (infer Word)[] }
  ? Word
  : Schema extends { type: 'integer' }
    ? number
    : Schema extends { type: 'boolean' }
      ? boolean
      : string;

type Value<Name extends SettingName> = Converted<Entries[Name]['schema']>;

/** The settings after conversion and defaults; `rules.ts` requires APP_ENV. */
export type Values = { readonly [Name in SetName | 'APP_ENV']: Value<Name> } & {
  readonly [Name in Exclude<SettingName, SetName | 'APP_ENV'>]: Value<Name> | undefined;
};
