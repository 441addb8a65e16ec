/**
 * The contract, read once at start: what each operation takes and answers. Routes, security and
 * validation come from here alone. A validator is compiled when it is first needed, which takes
 * some milliseconds: all of them together would be a tenth of a start.
 */
import { maxBodyBytes } from './body-limit.ts';
import { basePath, OpenApiDocument, type Place } from './document.ts';
import { createSchemaCompiler, type SchemaCompiler, type ValidateFunction } from './schemas.ts';

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

/** Headers that OpenAPI leaves to the protocol: a parameter of these names is ignored. */
const PROTOCOL_HEADERS = new Set(['accept', 'content-type', 'authorization']);

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

/** A form of simple fields and one file. */
export interface FormContract {
  /** The name of the file. */
  readonly file: string;
  /** The fields, the file among them as a text. */
  readonly fields: ParameterSet;
}

export interface BodyContract {
  readonly media: 'json' | 'multipart';
  readonly required: boolean;
  /** The largest body of JSON, in bytes; a form is limited by its file. */
  readonly maxBytes: number;
  /** Kept as the bytes that came, so no text of it has to fit into the database. */
  readonly isStoredAsBytes: boolean;
  readonly validate: ValidateFunction;
  /** What a form holds; null for JSON. */
  readonly form: FormContract | null;
}

export interface OperationContract {
  readonly id: string;
  /** In capitals, as on the wire. */
  readonly method: string;
  /** The route's template below the host, such as `/api/v1/pix/{transactionId}`. */
  readonly path: string;
  readonly access: 'public' | 'bearer';
  readonly takesWebhookSecret: boolean;
  /** What a request counts as for its address; operations with one name share the count. */
  readonly throttle: string | null;
  /** Whether the requests of one user are counted. */
  readonly limitsUsers: boolean;
  readonly pathParameters: ParameterSet;
  readonly queryParameters: ParameterSet;
  readonly headerParameters: ParameterSet;
  readonly body: BodyContract | null;
  /** The statuses that are listed by number. */
  readonly statuses: ReadonlySet<number>;
  /**
   * The validator of an answer's body, compiled when it is first asked for.
   * @returns null when the contract gives the status no body, or does not list it.
   */
  replyValidator(status: number): ValidateFunction | null;
}

export interface Contract {
  /** The document as it is served. */
  readonly bytes: Buffer;
  readonly operations: readonly OperationContract[];
}

interface Source {
  readonly document: OpenApiDocument;
  readonly schemas: SchemaCompiler;
  readonly basePath: string;
}

interface OperationPlace {
  readonly method: string;
  readonly path: string;
  readonly item: Place;
  readonly operation: Place;
}

/**
 * Reads the machine-readable contract.
 * @param parsed an OpenAPI 3.1 document.
 * @param text the same as it is served.
 * @throws Error when it is no such document, or uses what the service does not do; what is wrong
 *   within a schema is for {@link compileValidators} to find.
 */
export function loadContract(parsed: unknown, text: string): Contract {
  const document = new OpenApiDocument(parsed);
  const schemas = createSchemaCompiler(document.root.value);
  const source = { document, schemas, basePath: basePath(document) };
  return {
    bytes: Buffer.from(text),
    operations: operationPlaces(document).map((place) => readOperation(source, place)),
  };
}

/**
 * Compiles every validator, for whoever holds the contract against the code before it runs.
 * @throws Error when a schema uses what the service does not do.
 */
export function compileValidators({ operations }: Contract): void {
  for (const { replyValidator, statuses, body, ...given } of operations) {
    const sets = [given.pathParameters, given.queryParameters, given.headerParameters];
    for (const part of [...sets, body]) void part?.validate;
    for (const status of statuses) replyValidator(status);
  }
}

function operationPlaces(document: OpenApiDocument): OperationPlace[] {
  return document.entries(document.find(document.root, 'paths')).flatMap(({ key, place: item }) =>
    METHODS.flatMap((method) => {
      const operation = document.find(item, method);
      return operation === null ? [] : [{ method, path: key, item, operation }];
    }),
  );
}

function readOperation(source: Source, place: OperationPlace): OperationContract {
  const { operation } = place;
  const id = operation.value['operationId'];
  if (typeof id !== 'string') throw new Error(`${place.method} ${place.path} has no operationId`);
  return {
    id,
    method: place.method.toUpperCase(),
    path: `${source.basePath}${place.path}`,
    ...readSecurity(source.document, operation, id),
    throttle: readThrottle(operation.value['x-throttle'], id),
    limitsUsers: operation.value['x-throttle-user'] === true,
    pathParameters: readParameters(source, place, 'path'),
    queryParameters: readParameters(source, place, 'query'),
    headerParameters: readParameters(source, place, 'header'),
    body: readBody(source, operation, id),
    ...readReplies(source, operation),
  };
}

function readThrottle(name: unknown, id: string): string | null {
  if (name === undefined || typeof name === 'string') return name ?? null;
  throw new Error(`${id} has a throttle without a name`);
}

function readSecurity(
  document: OpenApiDocument,
  operation: Place,
  id: string,
): Pick<OperationContract, 'access' | 'takesWebhookSecret'> {
  const owner = operation.value['security'] === undefined ? document.root : operation;
  const schemes = document
    .entries(document.find(owner, 'security'))
    .map(({ place }) => Object.keys(place.value));
  const unknown = schemes.flat().find((name) => name !== 'bearerAuth' && name !== 'webhookSecret');
  if (unknown !== undefined) throw new Error(`${id} has the unknown security ${unknown}`);
  const bearer = schemes.filter((names) => names.includes('bearerAuth')).length;
  if (bearer > 0 && bearer < schemes.length) throw new Error(`${id} has an optional bearer token`);
  return {
    access: bearer > 0 ? 'bearer' : 'public',
    takesWebhookSecret: schemes.flat().includes('webhookSecret'),
  };
}

function readParameters(
  source: Source,
  { item, operation }: OperationPlace,
  where: 'path' | 'query' | 'header',
): ParameterSet {
  const { document, schemas } = source;
  const byName = new Map<string, Place>();
  // A parameter of the operation replaces the path's of the same name.
  for (const owner of [item, operation]) {
    for (const { place } of document.entries(document.find(owner, 'parameters'))) {
      const name = String(place.value['name']);
      const isOurs = where !== 'header' || !PROTOCOL_HEADERS.has(name.toLowerCase());
      if (place.value['in'] === where && isOurs) byName.set(name, place);
    }
  }
  const places = [...byName];
  const properties = places.map(([name, place]): [string, object] => [
    name,
    { $ref: schemas.reference([...place.pointer, 'schema']) },
  ]);
  const required = places.filter(([, place]) => place.value['required'] === true);
  const compiled = schemas.compile({
    type: 'object',
    properties: Object.fromEntries(properties),
    required: required.map(([name]) => name),
  });
  const parameters = places.map(([name, place]) => ({
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

function readBody(source: Source, operation: Place, id: string): BodyContract | null {
  const { document, schemas } = source;
  const body = document.find(operation, 'requestBody');
  if (body === null) return null;
  const [content, ...others] = document.entries(document.find(body, 'content'));
  const media = content && BODY_MEDIA.get(content.key);
  if (!media || others.length > 0) throw new Error(`${id} takes an unknown media type`);
  const compiled = schemas.compile({
    $ref: schemas.reference([...content.place.pointer, 'schema']),
  });
  return {
    media,
    required: body.value['required'] === true,
    maxBytes: media === 'json' ? maxBodyBytes(body.value['x-max-body-bytes'], id) : 0,
    isStoredAsBytes: body.value['x-stored-as-bytes'] === true,
    get validate() {
      return compiled();
    },
    form: media === 'multipart' ? readForm(source, content.place, { id, compiled }) : null,
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
    throw new Error(`${id} takes a form that has not one file, required`);
  }
  const parameters = properties.map(({ key, place }) => ({
    name: key,
    type: simpleType(place, key),
  }));
  return { file: file.key, fields: parameterSet(parameters, compiled) };
}

const BODY_MEDIA = new Map<string, BodyContract['media']>([
  ['application/json', 'json'],
  ['multipart/form-data', 'multipart'],
]);

function readReplies(
  { document, schemas }: Source,
  operation: Place,
): Pick<OperationContract, 'statuses' | 'replyValidator'> {
  const responses = document.entries(document.find(operation, 'responses'));
  const listed = new Map(
    responses
      .filter(({ key }) => /^\d{3}$/.test(key))
      .map(({ key, place }) => {
        const content = document.find(place, 'content', 'application/json');
        const pointer = content && schemas.reference([...content.pointer, 'schema']);
        return [Number(key), pointer === null ? null : schemas.compile({ $ref: pointer })];
      }),
  );
  return {
    statuses: new Set(listed.keys()),
    replyValidator: (status) => listed.get(status)?.() ?? null,
  };
}
