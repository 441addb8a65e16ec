/** JSON Schema as the contract uses it: the validator, its formats, and keywords of our own. */
import {
  Ajv2020,
  type AnySchemaObject,
  type Format,
  type ValidateFunction,
} from 'ajv/dist/2020.js';
import type { DataValidateFunction } from 'ajv/dist/types/index.js';
import addFormatsModule from 'ajv-formats';
import { fullFormats } from 'ajv-formats/dist/formats.js';
import { formFault, formNames, type FormName } from '../domain/forms.ts';
import { hasAtMostTwoDecimals } from '../domain/money.ts';
import { isUuid } from '../domain/uuid.ts';

export type { ErrorObject, ValidateFunction } from 'ajv/dist/2020.js';

/** The package is CommonJS: its function is both the module and the module's `default`. */
const addFormats = addFormatsModule as unknown as typeof addFormatsModule.default;

/** Words of OpenAPI 3.1 beside JSON Schema's own; strict mode refuses any other unknown word. */
const OPENAPI_WORDS = [
  ...['openapi', 'info', 'servers', 'paths', 'components', 'security', 'tags', 'webhooks'],
  ...['jsonSchemaDialect', 'externalDocs', 'discriminator', 'xml', 'example'],
];

/**
 * What makes the validators faster to compile, which an operation's first request waits for. The
 * contract's schemas are held against their own schema by a test; what a fault is called is said by
 * `fault-texts.ts`; and the optimiser saves less than a microsecond a request.
 */
const quickToCompile = { validateSchema: false, messages: false, code: { optimize: false } };

/** Compiles schemas of one document by their place in it. */
export interface SchemaCompiler {
  /**
   * @param schema a schema; a `$ref` in it is one of {@link SchemaCompiler.reference}.
   * @returns what gives its validator, which is compiled when it is first asked for.
   */
  compile(schema: object): () => ValidateFunction;
  /** What `$ref` says to mean the schema at a JSON pointer of the document. */
  reference(pointer: readonly string[]): string;
}

/** Takes an OpenAPI document; nothing is compiled yet. */
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
  ajv.addVocabulary(OPENAPI_WORDS);
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
    // Money is the only thing that is written with decimals here, and it has two.
    metaSchema: { const: 2 },
    validate: (_limit: number, value: number) => hasAtMostTwoDecimals(value),
  });
  ajv.addKeyword({
    keyword: 'x-form',
    type: 'string',
    schemaType: 'string',
    metaSchema: { enum: formNames },
    compile: hasForm,
  });
  ajv.addKeyword({
    keyword: 'x-same-as',
    type: 'string',
    schemaType: 'string',
    // Nothing but a password is asked for twice, and the fault speaks of it.
    metaSchema: { const: 'password' },
    compile: isSameAs,
  });
}

/**
 * Replaces the keywords whose work grows with what the caller sends. With all errors gathered, the
 * validator applies a keyword even after another one has refused the value.
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

/** Cuts a list that is too long to one item over the limit: only those are validated. */
function hasMaxItems(limit: number): DataValidateFunction {
  const validate: DataValidateFunction = (value: unknown[]) => {
    validate.errors = [{ keyword: 'maxItems', params: { limit } }];
    if (value.length <= limit) return true;
    value.length = limit + 1;
    return false;
  };
  return validate;
}

/** Hands the form's own sentence on to `faultText`. */
function hasForm(form: FormName, schema: AnySchemaObject): DataValidateFunction {
  const isOverLimit = lengthLimit('x-form', schema);
  const validate: DataValidateFunction = (value: string) => {
    const fault = isOverLimit(value) ? null : formFault(form, value);
    validate.errors = [{ keyword: 'x-form', params: { fault } }];
    return fault === null;
  };
  return validate;
}

/**
 * Makes the test for texts that `maxLength` refuses without counting: it counts code points, of
 * which each takes up to two code units. No pattern, form or format reads such a text.
 *
 * @throws Error when the schema of a `pattern` or an `x-form` has no `maxLength`.
 */
function lengthLimit(keyword: string, { maxLength }: AnySchemaObject): (text: string) => boolean {
  if (typeof maxLength !== 'number') throw new Error(`${keyword} needs a maxLength beside it`);
  return (text) => text.length > 2 * maxLength;
}

/** Where the other field is missing, that is the fault. */
function isSameAs(field: string): DataValidateFunction {
  return (value: string, place) => {
    const { [field]: other } = (place?.parentData ?? {}) as Record<string, unknown>;
    return typeof other !== 'string' || other === value;
  };
}

/** No value of any format is longer; the contract limits each field itself. */
const MAX_FORMAT_LENGTH = 2_048;

type Accepts = (value: string) => boolean;

/** Every format refuses what is over its length before it looks at it. */
function addBoundFormats(ajv: Ajv2020): void {
  const { date, 'date-time': dateTime } = fullFormats;
  // What the database would refuse later is refused here: a UUID written as a URN, a time without
  // the `T`, and the year 0.
  const stricter: Readonly<Record<string, Accepts>> = {
    uuid: isUuid,
    date: (value) => !value.startsWith('0000') && accepts(date, value),
    'date-time': (value) => /^(?!0000)\S+$/.test(value) && accepts(dateTime, value),
  };
  for (const [name, format] of Object.entries(fullFormats)) {
    if (!isOfTexts(format)) continue;
    const accepted = stricter[name] ?? ((value) => accepts(format, value));
    ajv.addFormat(name, (value: string) => value.length <= MAX_FORMAT_LENGTH && accepted(value));
  }
}

/** The others are of numbers, or let every text pass. */
function isOfTexts(format: Format): boolean {
  return format !== true && !(typeof format === 'object' && 'type' in format);
}

function accepts(format: Format, value: string): boolean {
  if (format instanceof RegExp) return format.test(value);
  const { validate } = format as { validate?: Accepts | RegExp };
  if (validate !== undefined) return accepts(validate, value);
  return (format as Accepts)(value);
}

/** One step of a JSON pointer, as a URI fragment writes it (RFC 6901, section 6). */
function referenceToken(key: string): string {
  return `/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
}
