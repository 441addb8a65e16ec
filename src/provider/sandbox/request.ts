/**
 * Reads a request and validates it against the contract. The check is strict, because the sandbox
 * exists to find a client that writes other names or types than the contract has.
 */
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import busboy from 'busboy';
import type { OperationId, Operations } from '../../../contract/provider-types.ts';
import { maxBytesOfBody } from '../../contract/body-limit.ts';
import type { BodyContract, OperationContract } from '../../contract/contract.ts';
import { ValidationErrors } from '../../contract/validation-errors.ts';
import type { ValidateFunction } from '../../contract/schemas.ts';
import { digestContent, type ContentDigest } from './bank/onboarding.ts';

/** A request as its transport received it. */
export interface ApiRequest {
  readonly method: string;
  /** The path and the query. */
  readonly url: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer | AsyncIterable<Uint8Array> | null;
}

/** The file of a form, whose content is not kept. */
interface FormFile extends ContentDigest {
  readonly type: string;
}

/** The body of an operation; a form has its file. */
type Body<Id extends OperationId> = Id extends 'submitDocument'
  ? Operations[Id]['body'] & { readonly arquivo: FormFile }
  : Operations[Id]['body'];

/** A request that conforms to the contract. */
export interface ProviderRequest<Id extends OperationId> {
  /** The bearer token, or an empty text. */
  readonly token: string;
  readonly path: Operations[Id]['path'];
  readonly query: Operations[Id]['query'];
  readonly body: Body<Id>;
}

/** A request as it was read. */
interface UncheckedRequest {
  readonly token: string;
  readonly path: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** A request that the sandbox refuses to execute. */
export class BadRequest extends Error {
  override readonly name = 'BadRequest';
  readonly status: number;

  constructor(detail: string, status = 400) {
    super(detail);
    this.status = status;
  }
}

/**
 * Reads the body of an operation to its end.
 *
 * @param body null for an operation without a body: it is read and dropped.
 * @returns the JSON; of a form its fields, each a text or a file; undefined without a body.
 * @throws BadRequest when it is too long, of another media type, or cut.
 */
export async function readBody(request: ApiRequest, body: BodyContract | null): Promise<unknown> {
  if (body?.media === 'multipart') return readForm(request);
  const json = await readJson(request, body?.maxBytes);
  return body === null ? undefined : json;
}

/**
 * Reads a body of JSON to its end.
 *
 * @returns its value; undefined without a body.
 * @throws BadRequest when it is too long, of another media type, or no JSON.
 */
export async function readJson(
  request: ApiRequest,
  maxBytes: number = maxBytesOfBody,
): Promise<unknown> {
  const { body, headers } = request;
  if (body === null) return undefined;
  const bytes = Buffer.isBuffer(body) ? body : await buffer(body);
  if (bytes.length === 0) return undefined;
  if (bytes.length > maxBytes) throw new BadRequest(`the body has over ${maxBytes} bytes`, 413);
  if (!/^application\/json\b/i.test(String(headers['content-type']))) {
    throw new BadRequest('the content type is not application/json', 415);
  }
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new BadRequest('the body is no JSON');
  }
}

const fileTypes: ReadonlySet<string> = new Set(['application/pdf', 'image/jpeg', 'image/png']);

/** Reads a form as it arrives: of its files, only the length and the hash are kept. */
async function readForm({ headers, body }: ApiRequest): Promise<Record<string, string | FormFile>> {
  const type = String(headers['content-type']);
  if (!/^multipart\/form-data\b.*;\s*boundary=/i.test(type)) {
    throw new BadRequest('the content type is not multipart/form-data with its boundary', 415);
  }
  const fields: [string, string | Promise<FormFile>][] = [];
  const parser = busboy({ headers: { 'content-type': type } });
  parser.on('field', (name, value) => fields.push([name, value]));
  parser.on('file', (name, content, { mimeType }) => {
    const file = readFile(content, mimeType);
    // A cut form ends its file with an error too; the one of the form is reported.
    file.catch(() => undefined);
    fields.push([name, file]);
  });
  let cause: Error | null = null;
  const source = async function* () {
    try {
      yield* Buffer.isBuffer(body) ? [body] : (body ?? []);
    } catch (error) {
      cause = error as Error;
      throw error;
    }
  };
  await pipeline(source, parser).catch(() => {
    throw cause ?? new BadRequest('the body is no whole form');
  });
  const read = fields.map(async ([name, value]) => [name, await value] as const);
  return Object.fromEntries(await Promise.all(read));
}

async function readFile(content: Readable, type: string): Promise<FormFile> {
  const digest = await digestContent(content);
  if (fileTypes.has(type)) return { ...digest, type };
  throw new BadRequest('arquivo is neither PDF nor JPEG nor PNG', 415);
}

/**
 * Checks a request against the contract of its operation.
 *
 * @throws BadRequest that names every invalid field.
 */
export function checkRequest(
  { pathParameters, queryParameters, body }: OperationContract,
  request: UncheckedRequest,
): void {
  check([
    [pathParameters.validate, request.path],
    [queryParameters.validate, request.query],
    ...(body === null ? [] : [[body.validate, fieldsIn(body, request.body)] as const]),
  ]);
}

/** The fields as the contract describes them: a file only, and always, in the file field. */
function fieldsIn({ form }: BodyContract, value: unknown): unknown {
  if (form === null || value === undefined) return value;
  const fields = Object.entries(value as Record<string, string | FormFile>).flatMap(
    ([name, field]) => {
      const isFile = typeof field !== 'string';
      if (isFile !== (name === form.file)) return [];
      return [[name, isFile ? '' : field]];
    },
  );
  return Object.fromEntries(fields) as unknown;
}

/**
 * Checks values, each by its validator.
 *
 * @throws BadRequest that names every invalid field.
 */
export function check(checks: readonly (readonly [ValidateFunction, unknown])[]): void {
  const errors = new ValidationErrors();
  for (const [validate, value] of checks) {
    if (!validate(value)) errors.addSchemaErrors(validate.errors);
  }
  if (errors.isEmpty) return;
  const sentences = Object.entries(errors.fields).map(
    ([field, texts]) => `${field}: ${texts.map(({ en }) => en).join(' ')}`,
  );
  throw new BadRequest(sentences.join(' '));
}
