/** The JSON Schema validator of the contract, with its formats and custom keywords. */
import {
  Ajv2020,
  type AnySchemaObject,
  type Format,
  type ValidateFunction,
} from 'ajv/dist/2020.js';
import type { DataValidateFunction } from 'ajv/dist/types/index.js';
import addFormatsModule from 'ajv-formats';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { isTownCep } from '../domain/cep.ts';
import { formatError, formatNames, type FormatName } from '../domain/formats.ts';
import { hasAtMostTwoDecimals } from '../domain/money.ts';
import { cleanPasted, isSamePassword, isUuid } from '../domain/text.ts';

export type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';

/** The package is CommonJS: its function is both the module and the module's `default`. */
const addFormats = addFormatsModule as unknown as typeof addFormatsModule.default;

/** Keywords of OpenAPI 3.1 beside JSON Schema's; strict mode refuses any other unknown keyword. */
const openapiWords = [
  'openapi',
  'info',
  'servers',
  'paths',
  'components',
  'security',
  'tags',
  'webhooks',
  'jsonSchemaDialect',
  'externalDocs',
  'discriminator',
  'xml',
  'example',
];

/**
 * Options that speed up compilation, for which an operation's first request waits. A test validates
 * the contract's schemas, `validation-messages.ts` words the errors, and the optimiser saves less
 * than a microsecond per request.
 */
const quickToCompile = { validateSchema: false, messages: false, code: { optimize: false } };

/** Compiles schemas that refer to one document. */
export interface SchemaCompiler {
  /**
   * @param schema a schema; a `$ref` in it is one of {@link SchemaCompiler.reference}.
   * @returns a function that returns the validator, which is compiled on first use.
   */
  compile(schema: object): () => ValidateFunction;
  /** Returns the `$ref` of the schema at a JSON pointer of the document. */
  reference(pointer: readonly string[]): string;
}

/** Creates a compiler for an OpenAPI document; nothing is compiled yet. */
export function createSchemaCompiler(document: object): SchemaCompiler {
  const ajv = new Ajv2020({
    strict: true,
    strictTypes: false,
    allErrors: true,
    ...quickToCompile,
  });
  addFormats(ajv);
  addBoundFormats(ajv);
  boundKeywords(ajv);
  addOwnKeywords(ajv);
  ajv.addVocabulary(openapiWords);
  ajv.addSchema(document, 'contract');
  return {
    compile(schema) {
      let compiled: ValidateFunction | null = null;
      return () => (compiled ??= ajv.compile(schema));
    },
    reference: (pointer) => `contract#${pointer.map(referenceToken).join('')}`,
  };
}

function addOwnKeywords(ajv: Ajv2020): void {
  ajv.addKeyword({
    keyword: 'x-max-decimals',
    type: 'number',
    schemaType: 'number',
    // Only amounts of money have decimals, and they have two.
    metaSchema: { const: 2 },
    validate: (_limit: number, value: number) => hasAtMostTwoDecimals(value),
  });
  ajv.addKeyword({
    keyword: 'x-format',
    type: 'string',
    schemaType: 'string',
    metaSchema: { enum: formatNames },
    compile: hasFormat,
  });
  ajv.addKeyword({
    keyword: 'x-same-as',
    type: 'string',
    schemaType: 'string',
    // The error message speaks of a password.
    metaSchema: { const: 'password' },
    compile: isSameAs,
  });
  ajv.addKeyword({
    keyword: 'x-pasted',
    type: 'string',
    schemaType: 'boolean',
    metaSchema: { const: true },
    before: 'maxLength',
    modifying: true,
    compile: () => cleanText,
  });
  ajv.addKeyword({
    keyword: 'x-refused-schedule',
    type: 'object',
    schemaType: 'array',
    compile: refusesFields,
  });
  ajv.addKeyword({
    keyword: 'x-required-without',
    type: 'object',
    schemaType: 'object',
    compile: hasRequiredWithout,
  });
  ajv.addKeyword({
    keyword: 'x-required-outside-towns',
    type: 'object',
    schemaType: 'array',
    compile: hasRequiredOutsideTowns,
  });
}

/**
 * Replaces the keywords whose cost grows with the input. With `allErrors`, the validator applies a
 * keyword even after another one has refused the value.
 */
function boundKeywords(ajv: Ajv2020): void {
  ajv.removeKeyword('pattern');
  ajv.addKeyword({
    keyword: 'pattern',
    type: 'string',
    schemaType: 'string',
    compile: matchesPattern,
  });
  ajv.removeKeyword('maxItems');
  ajv.addKeyword({
    keyword: 'maxItems',
    type: 'array',
    schemaType: 'number',
    before: 'items',
    modifying: true,
    compile: hasMaxItems,
  });
}

function matchesPattern(pattern: string, schema: AnySchemaObject): DataValidateFunction {
  const expression = new RegExp(pattern, 'u');
  const isOverLimit = lengthLimit('pattern', schema);
  const validate: DataValidateFunction = (value: string) => {
    validate.errors = [{ keyword: 'pattern', params: { pattern } }];
    return isOverLimit(value) || expression.test(value);
  };
  return validate;
}

/** Truncates a list to one item over the limit, so that the rest is not validated. */
function hasMaxItems(limit: number): DataValidateFunction {
  const validate: DataValidateFunction = (value: unknown[]) => {
    validate.errors = [{ keyword: 'maxItems', params: { limit } }];
    if (value.length <= limit) return true;
    value.length = limit + 1;
    return false;
  };
  return validate;
}

/** Passes the message of the format on to `validationMessage`. */
function hasFormat(format: FormatName, schema: AnySchemaObject): DataValidateFunction {
  const isOverLimit = lengthLimit('x-format', schema);
  const validate: DataValidateFunction = (value: string) => {
    const error = isOverLimit(value) ? null : formatError(format, value);
    validate.errors = [{ keyword: 'x-format', params: { error } }];
    return error === null;
  };
  return validate;
}

/**
 * Makes a test for texts that are certainly over `maxLength`, which counts code points of one or
 * two code units each. Patterns and formats skip such texts.
 *
 * @throws Error when the schema of a `pattern` or an `x-format` has no `maxLength`.
 */
function lengthLimit(keyword: string, { maxLength }: AnySchemaObject): (text: string) => boolean {
  if (typeof maxLength !== 'number') throw new Error(`${keyword} needs a maxLength beside it`);
  return (text) => text.length > 2 * maxLength;
}

/** Replaces the value by the text that was meant, which all other keywords then check. */
const cleanText: DataValidateFunction = (value: string, place) => {
  if (place) Reflect.set(place.parentData, place.parentDataProperty, cleanPasted(value));
  return true;
};

/** Accepts the value when the other field is missing, which has an error of its own. */
function isSameAs(field: string): DataValidateFunction {
  return (value: string, place) => {
    const { [field]: other } = (place?.parentData ?? {}) as Record<string, unknown>;
    return typeof other !== 'string' || isSamePassword(other, value);
  };
}

/** Refuses fields that the operation would otherwise ignore, at a price for the customer. */
function refusesFields(fields: readonly string[]): DataValidateFunction {
  const validate: DataValidateFunction = (value: object) => {
    validate.errors = fields
      .filter((field) => Object.hasOwn(value, field))
      .map((refusedProperty) => ({ keyword: 'x-refused-schedule', params: { refusedProperty } }));
    return validate.errors.length === 0;
  };
  return validate;
}

/** Requires fields where another one is absent, and reports them as `required` does. */
function hasRequiredWithout(
  rules: Readonly<Record<string, readonly string[]>>,
): DataValidateFunction {
  const validate: DataValidateFunction = (value: object) => {
    validate.errors = Object.entries(rules)
      .filter(([replacement]) => !Object.hasOwn(value, replacement))
      .flatMap(([, fields]) => fields)
      .filter((field) => !Object.hasOwn(value, field))
      .map((missingProperty) => ({ keyword: 'required', params: { missingProperty } }));
    return validate.errors.length === 0;
  };
  return validate;
}

/** Requires fields, not blank, unless the `cep` may be the only one of its town. */
function hasRequiredOutsideTowns(fields: readonly string[]): DataValidateFunction {
  const validate: DataValidateFunction = (value: Readonly<Record<string, unknown>>) => {
    const { cep } = value;
    const isTown = typeof cep === 'string' && isTownCep(cep.slice(0, maxFormatLength));
    // A value of another type has an error of its own.
    const isBlank = (field: string): boolean => {
      const { [field]: text = '' } = value;
      return typeof text === 'string' && text.trim() === '';
    };
    validate.errors = fields
      .filter((field) => !isTown && isBlank(field))
      .map((missingProperty) => ({ keyword: 'required', params: { missingProperty } }));
    return validate.errors.length === 0;
  };
  return validate;
}

/** Values of every format are shorter; the contract limits each field itself. */
const maxFormatLength = 2_048;

type Accepts = (value: string) => boolean;

/** Makes every format check the length first. */
function addBoundFormats(ajv: Ajv2020): void {
  const { date, 'date-time': dateTime, email } = fullFormats;
  // PostgreSQL would refuse a UUID written as a URN, a time without the `T`, and the year 0. An
  // e-mail may be pasted.
  const own: Readonly<Record<string, Accepts>> = {
    uuid: isUuid,
    email: (value) => accepts(email, cleanPasted(value)),
    date: (value) => !value.startsWith('0000') && accepts(date, value),
    'date-time': (value) => /^(?!0000)\S+$/.test(value) && accepts(dateTime, value),
  };
  for (const [name, format] of Object.entries(fullFormats)) {
    if (!isTextFormat(format)) continue;
    const accepted = own[name] ?? ((value) => accepts(format, value));
    ajv.addFormat(name, (value: string) => value.length <= maxFormatLength && accepted(value));
  }
}

/** Other formats apply to numbers, or accept every text. */
function isTextFormat(format: Format): boolean {
  return format !== true && !(typeof format === 'object' && 'type' in format);
}

function accepts(format: Format, value: string): boolean {
  if (format instanceof RegExp) return format.test(value);
  const { validate } = format as { validate?: Accepts | RegExp };
  if (validate !== undefined) return accepts(validate, value);
  return (format as Accepts)(value);
}

/** One step of a JSON pointer in a URI fragment (RFC 6901, section 6). */
function referenceToken(key: string): string {
  return `/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
}
