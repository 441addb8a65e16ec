/** JSON Schema as the contract uses it: the validator, its formats, and keywords of our own. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
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
  addStricterFormats(ajv);
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

/** Hands the form's own sentence on to `faultText`. */
function hasForm(form: FormName): DataValidateFunction {
  const validate: DataValidateFunction = (value: string) => {
    const fault = formFault(form, value);
    validate.errors = [{ keyword: 'x-form', params: { fault } }];
    return fault === null;
  };
  return validate;
}

/** Where the other field is missing, that is the fault. */
function isSameAs(field: string): DataValidateFunction {
  return (value: string, place) => {
    const { [field]: other } = (place?.parentData ?? {}) as Record<string, unknown>;
    return typeof other !== 'string' || other === value;
  };
}

/**
 * What the database would refuse later is refused here: a UUID written as a URN, a time without
 * the `T`, and the year 0.
 */
function addStricterFormats(ajv: Ajv2020): void {
  ajv.addFormat('uuid', isUuid);
  const { date, 'date-time': dateTime } = fullFormats;
  ajv.addFormat('date', (value: string) => !value.startsWith('0000') && accepts(date, value));
  ajv.addFormat(
    'date-time',
    (value: string) => /^(?!0000)\S+$/.test(value) && accepts(dateTime, value),
  );
}

function accepts(format: unknown, value: string): boolean {
  return (format as { validate(text: string): boolean }).validate(value);
}

/** One step of a JSON pointer, as a URI fragment writes it (RFC 6901, section 6). */
function referenceToken(key: string): string {
  return `/${encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
}
