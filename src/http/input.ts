/** Validates the parts of a request; all errors are reported at once. */
import type { IncomingHttpHeaders } from 'node:http';
import { fieldRequired, unstorable } from '../domain/validation-errors.ts';
import { AppError } from '../errors.ts';
import type { ReadBody } from './body.ts';
import type { BodyContract, OperationContract, ParameterSet } from '../contract/contract.ts';
import { unknownParameter } from '../contract/validation-messages.ts';
import { ValidationErrors, wholeBody } from '../contract/validation-errors.ts';
import { findUnstorableText } from './json.ts';
import { parseQuery, readParameters } from './parameters.ts';

/** A path that cannot exist, such as an id that is no UUID. */
export class InvalidPath extends AppError {
  constructor() {
    super('NOT_FOUND');
  }
}

export interface RequestParts {
  /** Path parameters, decoded. */
  readonly params: Readonly<Record<string, string | undefined>>;
  /** The query string, still encoded. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: ReadBody;
}

/** The input of an operation; its types are the contract's. */
export interface ValidatedInput {
  readonly path: unknown;
  readonly query: unknown;
  readonly headers: unknown;
  readonly body: unknown;
}

/** What the contract accepts of a request that it refuses: null where a field is invalid. */
interface AcceptedParts {
  readonly query: object;
  readonly body: object;
}

/**
 * Validates a request against the contract.
 *
 * @param checkRefused throws the errors that the operation finds in a request that is refused.
 * @throws AppError VALIDATION_FAILED with every error of headers, query, path and body.
 * @throws InvalidPath when a path parameter is invalid and the contract lists 404.
 */
export function readInput(
  contract: OperationContract,
  parts: RequestParts,
  checkRefused?: (accepted: AcceptedParts) => void,
): ValidatedInput {
  const errors = new ValidationErrors();
  const path = readPath(contract, parts.params, errors);
  const headers = readHeaders(contract, parts.headers, errors);
  const queryValues = parseQuery(
    parts.query,
    (name) => contract.isStrictQuery || isDeclared(contract.queryParameters, name),
  );
  const query = readParameters(contract.queryParameters, (name) => queryValues.get(name), errors);
  if (contract.isStrictQuery) {
    refuseUnknownParameters(contract.queryParameters, queryValues.keys(), errors);
  }
  const body = readBodyValue(contract.body, parts.body, errors);
  // Where not every error is collected, a field without one may be invalid too.
  if (!errors.isEmpty && !errors.isFull && checkRefused) {
    const accepted = { query: acceptedBy(errors, query), body: acceptedBy(errors, body) };
    errors.addThrown(() => checkRefused(accepted));
  }
  errors.throwIfAny();
  return { path, query, headers, body };
}

/** Replaces invalid fields by null, with the fields below them. */
function acceptedBy(errors: ValidationErrors, value: unknown): object {
  if (typeof value !== 'object' || value === null) return {};
  const invalid = new Set(Object.keys(errors.fields).map((path) => path.split('.')[0]));
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, invalid.has(name) ? null : part]),
  );
}

/** @returns the declared headers of a request, or null when one of them is invalid. */
export function validHeaders(contract: OperationContract, headers: IncomingHttpHeaders): unknown {
  const errors = new ValidationErrors();
  const values = readHeaders(contract, headers, errors);
  return errors.isEmpty ? values : null;
}

function readHeaders(
  { headerParameters }: OperationContract,
  headers: IncomingHttpHeaders,
  errors: ValidationErrors,
): unknown {
  return readParameters(headerParameters, (name) => headers[name.toLowerCase()], errors);
}

/**
 * Refuses unknown query parameters: a list whose filter was ignored would be taken for a filtered
 * list. The operations of 1.0.0, which promised to ignore them, do not.
 */
function refuseUnknownParameters(
  declared: ParameterSet,
  names: Iterable<string>,
  errors: ValidationErrors,
): void {
  for (const name of names) {
    if (!isDeclared(declared, name)) errors.add(name, unknownParameter);
  }
}

function isDeclared({ parameters }: ParameterSet, name: string): boolean {
  return parameters.some((known) => known.name === name);
}

/**
 * Reads the path parameters, which are known before the body.
 *
 * @param errors collects the errors of the path where the contract lists 422 and no 404.
 * @throws InvalidPath otherwise.
 */
export function readPath(
  contract: OperationContract,
  params: RequestParts['params'],
  errors: ValidationErrors = new ValidationErrors(),
): unknown {
  const { statuses, pathParameters } = contract;
  const isFieldError = statuses.has(422) && !statuses.has(404);
  const pathErrors = isFieldError ? errors : new ValidationErrors();
  const path = readParameters(pathParameters, (name) => params[name], pathErrors);
  if (!isFieldError && !pathErrors.isEmpty) throw new InvalidPath();
  return path;
}

function readBodyValue(
  contract: BodyContract | null,
  body: ReadBody,
  errors: ValidationErrors,
): unknown {
  if (contract === null) return undefined;
  if (!body.isPresent) {
    if (contract.required) addMissingBody(contract, errors);
    return undefined;
  }
  if (body.isPending) return body.value;
  if (!contract.isStoredAsBytes) {
    for (const path of findUnstorableText(body.value)) errors.add(path, unstorable);
  }
  if (!contract.validate(body.value)) errors.addSchemaErrors(contract.validate.errors);
  return body.isOutline ? undefined : body.value;
}

/** Reports every required field as missing, or the body itself if it has no required field. */
function addMissingBody({ validate }: BodyContract, errors: ValidationErrors): void {
  if (validate({})) errors.add(wholeBody, fieldRequired);
  else errors.addSchemaErrors(validate.errors);
}
