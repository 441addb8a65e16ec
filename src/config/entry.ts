/** What the list of settings is made of: the type of one setting, and the forms that many share. */
import type { Format } from './formats.ts';
import type { AppEnv, Values } from './values.ts';

export type SettingName = keyof Values;

type Value = string | number | boolean;

/** What a value must be. */
export interface Form {
  /** Ends the sentence "must be …". */
  readonly expected: string;
  /** JSON Schema of the converted value. */
  readonly schema: Readonly<Record<string, unknown>> & {
    readonly type: 'string' | 'integer' | 'boolean';
  };
}

export interface SettingEntry extends Form {
  readonly meaning: string;
  /** The form in production, where it is stricter there. */
  readonly inProduction?: Form;
  readonly default?: Value;
  /** The default where it depends on the environment. */
  readonly defaultIn?: Readonly<Partial<Record<AppEnv, Value>>>;
  readonly requiredIn?: readonly AppEnv[];
  /** The setting that names a file with this one's value. */
  readonly orFile?: SettingName;
  /** It is PEM: its line ends may be written as the two characters `\n`. */
  readonly isPem?: true;
  /** Its value is never shown. */
  readonly isSecret?: true;
}

export const text = { type: 'string', minLength: 1, maxLength: 1024 } as const;

export const flag = { schema: { type: 'boolean' }, expected: '`true` or `false`' } as const;

/** The form of a flag that only `false` satisfies. */
export const mustBeFalse = {
  schema: { type: 'boolean', enum: [false] },
  expected: '`false`',
} as const;

/** The form of an integer between two bounds, both of which it may be. */
export function integer(
  minimum: number,
  maximum: number,
): { schema: { type: 'integer'; minimum: number; maximum: number }; expected: string } {
  const expected = `an integer from ${minimum} to ${maximum}`;
  return { schema: { type: 'integer', minimum, maximum }, expected };
}

/** The form of one of a few words. */
export function oneOf(words: readonly string[]): {
  schema: { type: 'string'; enum: readonly string[] };
  expected: string;
} {
  return { schema: { type: 'string', enum: words }, expected: `one of ${words.join(', ')}` };
}

/** The schema of a text whose form is checked by a function. */
export function formatted(format: Format): { type: 'string'; format: string } {
  return { type: 'string', format };
}

/** The setting that names a file with the value of another one. */
export function fileOf(name: SettingName): SettingEntry {
  return {
    meaning: `a file with the value of ${name}, instead of it`,
    expected: 'a path',
    schema: text,
  };
}
