/**
 * Reads a request and validates it against the contract. The check is strict, because the sandbox
 * exists to find a client that writes other names or types than the contract has.
 */
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { OperationId, Operations } from '../../../contract/provider-types.ts';
import { MAX_BODY_BYTES } from '../../contract/body-limit.ts';
import type { BodyContract, OperationContract } from '../../contract/contract.ts';
import { ValidationErrors } from '../../contract/validation-errors.ts';
import type { ValidateFunction } from '../../contract/schemas.ts';

/** The body of an operation; a form has its file. */
type Body<Id extends OperationId> = Id extends 'submitDocument'
  ? Operations[Id]['body'] & { readonly arquivo: File }
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
export interface UncheckedRequest {
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
export async function readBody(
  request: IncomingMessage,
  body: BodyContract | null,
): Promise<unknown> {
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
  request: IncomingMessage,
  maxBytes: number = MAX_BODY_BYTES,
): Promise<unknown> {
  const bytes = await buffer(request);
  if (bytes.length === 0) return undefined;
  if (bytes.length > maxBytes) throw new BadRequest(`the body has over ${maxBytes} bytes`, 413);
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? '')) {
    throw new BadRequest('the content type is not application/json', 415);
  }
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    throw new BadRequest('the body is no JSON');
  }
}

async function readForm(request: IncomingMessage): Promise<Record<string, string | File>> {
  const bytes = await buffer(request);
  const type = request.headers['content-type'] ?? '';
  if (!/^multipart\/form-data\b.*;\s*boundary=/i.test(type)) {
    throw new BadRequest('the content type is not multipart/form-data with its boundary', 415);
  }
  try {
    // It holds the whole form, which is one document of a client under test.
    // oxlint-disable-next-line typescript/no-deprecated
    const form = await new Response(bytes, { headers: { 'content-type': type } }).formData();
    return Object.fromEntries(form);
  } catch {
    throw new BadRequest('the body is no whole form');
  }
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
  const fields = Object.entries(value as Record<string, string | File>).flatMap(([name, field]) => {
    const isFile = typeof field !== 'string';
    if (isFile !== (name === form.file)) return [];
    return [[name, isFile ? '' : field]];
  });
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
