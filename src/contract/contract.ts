/**
 * Reads a contract at start: the input and the replies of each operation. Routes, security and
 * validation all follow from it, for the service as for the simulated provider. A validator is
 * compiled on first use, because compiling all of them takes a tenth of the start.
 */
import { maxBodyBytes } from './body-limit.ts';
import { closedReplies } from './closed-replies.ts';
import {
  declaredOperations,
  type Declaration,
  type DeclaredBody,
  type ParameterPlace,
} from './declarations.ts';
import { basePath, OpenApiDocument, type Place } from './document.ts';
import { createSchemaCompiler, type SchemaCompiler, type ValidateFunction } from './schemas.ts';

export type ParameterType = 'string' | 'integer' | 'number' | 'boolean';

export interface Parameter {
  readonly name: string;
  readonly type: ParameterType;
}

/** The parameters of one place (path, query or headers), which are validated together. */
export interface ParameterSet {
  readonly parameters: readonly Parameter[];
  readonly validate: ValidateFunction;
}

/** A form with simple fields and one file. */
export interface FormContract {
  /** The name of the file's field. */
  readonly file: string;
  /** All fields, with the file as a text. */
  readonly fields: ParameterSet;
}

export interface BodyContract {
  readonly media: 'json' | 'multipart';
  readonly required: boolean;
  /** The largest JSON body, in bytes; UPLOAD_MAX_BYTES limits a form. */
  readonly maxBytes: number;
  /** The body is stored as bytes, so its texts need not be storable by PostgreSQL. */
  readonly isStoredAsBytes: boolean;
  readonly validate: ValidateFunction;
  /** The fields and the file of a form; null for JSON. */
  readonly form: FormContract | null;
}

/** What a request must carry: nothing, an access token, or the webhook secret where one is set. */
export type Access = 'public' | 'token' | 'secret';

export interface OperationContract {
  readonly id: string;
  /** In capitals, as on the wire. */
  readonly method: string;
  /** The route's template below the host, such as `/api/v1/pix/{transactionId}`. */
  readonly path: string;
  readonly access: Access;
  /** The name of the throttle by client address; operations with the same name share it. */
  readonly throttle: string | null;
  /** Whether the requests of each user are throttled. */
  readonly limitsUsers: boolean;
  /** Whether unknown query parameters are refused; others are ignored. */
  readonly isStrictQuery: boolean;
  readonly pathParameters: ParameterSet;
  readonly queryParameters: ParameterSet;
  readonly headerParameters: ParameterSet;
  readonly body: BodyContract | null;
  /** The statuses that are listed by number. */
  readonly statuses: ReadonlySet<number>;
  /**
   * The validator of a reply's body, compiled on first use. See {@link LoadOptions}.
   * @returns null when the contract does not list the status, or lists it without a body.
   */
  replyValidator(status: number): ValidateFunction | null;
}

export interface Contract {
  /** The document as it is served. */
  readonly bytes: Buffer;
  readonly operations: readonly OperationContract[];
}

export interface LoadOptions {
  /** Whether replies are validated against the closed form of their schemas. */
  readonly closesReplies?: boolean;
}

interface Source {
  readonly document: OpenApiDocument;
  readonly schemas: SchemaCompiler;
  /** The compiler of replies, created on first use: production validates none. */
  readonly replySchemas: () => SchemaCompiler;
  readonly basePath: string;
}

/**
 * Reads the machine-readable contract.
 * @param parsed an OpenAPI 3.1 document.
 * @param text the same document as it is served.
 * @throws Error when it is not such a document, or uses a feature that the service does not
 *   support; {@link compileValidators} finds the errors within schemas.
 */
export function loadContract(
  parsed: unknown,
  text: string,
  { closesReplies = false }: LoadOptions = {},
): Contract {
  const document = new OpenApiDocument(parsed);
  const schemas = createSchemaCompiler(document.root.value);
  let closed: SchemaCompiler | null = null;
  const replySchemas = (): SchemaCompiler =>
    closesReplies ? (closed ??= createSchemaCompiler(closedReplies(document.root.value))) : schemas;
  const source = { document, schemas, replySchemas, basePath: basePath(document) };
  return {
    bytes: Buffer.from(text),
    operations: declaredOperations(document).map((declared) => readOperation(source, declared)),
  };
}

/**
 * Compiles every validator, to check a contract before it is used.
 * @throws Error when a schema uses a feature that the service does not support.
 */
export function compileValidators({ operations }: Contract): void {
  for (const { replyValidator, statuses, body, ...operation } of operations) {
    const { pathParameters, queryParameters, headerParameters } = operation;
    for (const part of [pathParameters, queryParameters, headerParameters, body])
      void part?.validate;
    for (const status of statuses) replyValidator(status);
  }
}

function readOperation(source: Source, declared: Declaration): OperationContract {
  const { id, method, operation } = declared;
  return {
    id,
    method,
    path: `${source.basePath}${declared.path}`,
    access: readAccess(source.document, operation, id),
    throttle: readThrottle(operation.value['x-throttle'], id),
    limitsUsers: operation.value['x-throttle-user'] === true,
    isStrictQuery: operation.value['x-strict-query'] === true,
    pathParameters: readParameters(source, declared, 'path'),
    queryParameters: readParameters(source, declared, 'query'),
    headerParameters: readParameters(source, declared, 'header'),
    body: declared.body && readBody(source, declared.body, id),
    ...readReplies(source, declared),
  };
}

function readThrottle(name: unknown, id: string): string | null {
  if (name === undefined || typeof name === 'string') return name ?? null;
  throw new Error(`${id} has a throttle without a name`);
}

function readAccess(document: OpenApiDocument, operation: Place, id: string): Access {
  const owner = operation.value['security'] === undefined ? document.root : operation;
  const schemes = document
    .entries(document.find(owner, 'security'))
    .map(({ place }) => Object.keys(place.value));
  const unknown = schemes.flat().find((name) => name !== 'bearerAuth' && name !== 'webhookSecret');
  if (unknown !== undefined) throw new Error(`${id} has the unknown security ${unknown}`);
  const withToken = schemes.filter((names) => names.includes('bearerAuth')).length;
  if (withToken > 0 && withToken < schemes.length) throw new Error(`${id} has an optional token`);
  if (withToken > 0) return 'token';
  return schemes.flat().includes('webhookSecret') ? 'secret' : 'public';
}

function readParameters(
  { document, schemas }: Source,
  declared: Declaration,
  where: ParameterPlace,
): ParameterSet {
  const chosen = declared.parameters.filter((parameter) => parameter.in === where);
  const properties = chosen.map(({ name, place }): [string, object] => [
    name,
    { $ref: schemas.reference([...place.pointer, 'schema']) },
  ]);
  const required = chosen.filter((parameter) => parameter.required);
  const compiled = schemas.compile({
    type: 'object',
    properties: Object.fromEntries(properties),
    required: required.map(({ name }) => name),
  });
  const parameters = chosen.map(({ name, place }) => ({
    name,
    type: simpleType(document.find(place, 'schema'), name),
  }));
  return parameterSet(parameters, compiled);
}

function parameterSet(
  parameters: readonly Parameter[],
  compiled: () => ValidateFunction,
): ParameterSet {
  return {
    parameters,
    get validate() {
      return compiled();
    },
  };
}

function simpleType(schema: Place | null, name: string): ParameterType {
  const type = schema?.value['type'];
  switch (type) {
    case 'string':
    case 'integer':
    case 'number':
    case 'boolean':
      return type;
    default:
      throw new Error(`the parameter ${name} has no simple type`);
  }
}

function readBody(source: Source, declared: DeclaredBody, id: string): BodyContract {
  const { schemas } = source;
  const { place, required, body } = declared;
  const media = bodyMedia.get(declared.media);
  if (!media) throw new Error(`${id} takes an unknown media type`);
  const compiled = schemas.compile({ $ref: schemas.reference([...place.pointer, 'schema']) });
  return {
    media,
    required,
    maxBytes: media === 'json' ? maxBodyBytes(body.value['x-max-body-bytes'], id) : 0,
    isStoredAsBytes: body.value['x-stored-as-bytes'] === true,
    get validate() {
      return compiled();
    },
    form: media === 'multipart' ? readForm(source, place, { id, compiled }) : null,
  };
}

function readForm(
  { document }: Source,
  content: Place,
  { id, compiled }: { readonly id: string; compiled(): ValidateFunction },
): FormContract {
  const properties = document.entries(document.find(content, 'schema', 'properties'));
  const [file, ...others] = properties.filter(({ place }) => place.value['format'] === 'binary');
  const required = document.find(content, 'schema', 'required')?.value ?? {};
  const isRequired = Object.values(required).includes(file?.key);
  if (!file || others.length > 0 || !isRequired) {
    throw new Error(`${id} takes a form that must have exactly one file, which is required`);
  }
  const parameters = properties.map(({ key, place }) => ({
    name: key,
    type: simpleType(place, key),
  }));
  return { file: file.key, fields: parameterSet(parameters, compiled) };
}

const bodyMedia = new Map<string, BodyContract['media']>([
  ['application/json', 'json'],
  ['multipart/form-data', 'multipart'],
]);

function readReplies(
  { schemas, replySchemas }: Source,
  { replies }: Declaration,
): Pick<OperationContract, 'statuses' | 'replyValidator'> {
  const listed = new Map(
    replies
      .filter(({ status }) => /^\d{3}$/.test(status))
      .map(({ status, content }) => {
        const pointer = content && schemas.reference([...content.place.pointer, 'schema']);
        let compiled: (() => ValidateFunction) | null = null;
        const validator = () => (compiled ??= replySchemas().compile({ $ref: pointer }))();
        return [Number(status), pointer === null ? null : validator];
      }),
  );
  return {
    statuses: new Set(listed.keys()),
    replyValidator: (status) => listed.get(status)?.() ?? null,
  };
}
