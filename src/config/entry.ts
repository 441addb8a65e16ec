/** The type of a setting, and the formats that several settings share. */
import type { Format } from './formats.ts';

export const appEnvs = ['local', 'test', 'staging', 'production'] as const;

export type AppEnv = (typeof appEnvs)[number];

/** The environments of a deployment. */
export const deployed = ['staging', 'production'] as const;

export type Value = string | number | boolean;

/** The format of a value. */
export interface ValueFormat {
  /** Ends the sentence "must be …". */
  readonly expected: string;
  /** JSON Schema of the converted value. */
  readonly schema: Readonly<Record<string, unknown>> & {
    readonly type: 'string' | 'integer' | 'boolean';
  };
}

/** @template Name the names of all settings; any text where the list is not known yet. */
export interface Entry<Name extends string = string> extends ValueFormat {
  readonly meaning: string;
  /** The stricter format in production. */
  readonly inProduction?: ValueFormat;
  readonly default?: Value;
  /** The defaults of single environments, for a setting without `default`. */
  readonly defaultIn?: Readonly<Partial<Record<AppEnv, Value>>>;
  readonly requiredIn?: readonly AppEnv[];
  /** The setting that names a file with the value of this one. */
  readonly orFile?: Name;
  /** The value is PEM, whose line ends may be written as the two characters `\n`. */
  readonly isPem?: true;
  /** Reports and error messages never contain the value. */
  readonly isSecret?: true;
}

export const text = { type: 'string', minLength: 1, maxLength: 1024 } as const;

export const host = { ...text, pattern: '^[^\\s/]+$' } as const;

export const flag = { schema: { type: 'boolean' }, expected: '`true` or `false`' } as const;

/** The format of a flag that must be `false`. */
export const mustBeFalse = {
  schema: { type: 'boolean', enum: [false] },
  expected: '`false`',
} as const;

/** The format of an integer between two inclusive bounds. */
export function integer(
  minimum: number,
  maximum: number,
): { schema: { type: 'integer'; minimum: number; maximum: number }; expected: string } {
  const expected = `an integer from ${minimum} to ${maximum}`;
  return { schema: { type: 'integer', minimum, maximum }, expected };
}

/** The format of an enumeration. */
export function enumerated<const Word extends string>(
  words: readonly Word[],
): { schema: { type: 'string'; enum: readonly Word[] }; expected: string } {
  return { schema: { type: 'string', enum: words }, expected: `one of ${words.join(', ')}` };
}

/** The schema of a text whose format is checked by a function. */
export function formatted(format: Format): { type: 'string'; format: string } {
  return { type: 'string', format };
}

/** The setting that names a file with the value of another one. */
export function fileSetting(name: string) {
  return {
    meaning: `a file with the value of ${name}, instead of it`,
    expected: 'a path',
    schema: text,
  };
}
