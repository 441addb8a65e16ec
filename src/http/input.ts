/** From the parts of a request to the validated input of an operation, with all faults at once. */
import type { IncomingHttpHeaders } from 'node:http';
import { REQUIRED, UNSTORABLE } from '../domain/faults.ts';
import { AppError } from '../errors.ts';
import type { ReadBody } from './body.ts';
import type { BodyContract, OperationContract } from '../contract/contract.ts';
import { Faults, WHOLE_BODY } from '../contract/faults.ts';
import { findUnstorableText } from './json.ts';
import { parseQuery, readParameters } from './parameters.ts';

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

/**
 * Validates a request against the contract.
 *
 * @throws AppError VALIDATION_FAILED with every fault of headers, query, path and body.
 * @throws AppError NOT_FOUND when the path names what cannot exist, such as an id that is no UUID,
 *   and the contract knows a 404 for that.
 */
export function readInput(contract: OperationContract, parts: RequestParts): ValidatedInput {
  const faults = new Faults();
  const path = readPath(contract, parts.params, faults);
  const headers = readParameters(
    contract.headerParameters,
    (name) => parts.headers[name.toLowerCase()],
    faults,
  );
  const queryValues = parseQuery(parts.query);
  const query = readParameters(contract.queryParameters, (name) => queryValues.get(name), faults);
  const body = readBodyValue(contract.body, parts.body, faults);
  faults.refuse();
  return { path, query, headers, body };
}

/**
 * Reads the path, which is known before the body is.
 *
 * @param faults collects what is wrong with the path where that is a 422.
 * @throws AppError NOT_FOUND when the path names what cannot exist and the contract has a 404.
 */
export function readPath(
  contract: OperationContract,
  params: RequestParts['params'],
  faults: Faults = new Faults(),
): unknown {
  const { statuses, pathParameters } = contract;
  const isFieldFault = statuses.has(422) && !statuses.has(404);
  const pathFaults = isFieldFault ? faults : new Faults();
  const path = readParameters(pathParameters, (name) => params[name], pathFaults);
  if (!isFieldFault && pathFaults.found) throw new AppError('NOT_FOUND');
  return path;
}

function readBodyValue(contract: BodyContract | null, body: ReadBody, faults: Faults): unknown {
  if (contract === null) return undefined;
  if (!body.isGiven) {
    if (contract.required) addMissingBody(contract, faults);
    return undefined;
  }
  if (body.isComing) return body.value;
  if (!contract.isStoredAsBytes) {
    for (const path of findUnstorableText(body.value)) faults.add(path, UNSTORABLE);
  }
  if (!contract.validate(body.value)) faults.addErrors(contract.validate.errors);
  return body.isOutline ? undefined : body.value;
}

/** Without a body every required field is missing; where none is, the body itself is. */
function addMissingBody({ validate }: BodyContract, faults: Faults): void {
  if (validate({})) faults.add(WHOLE_BODY, REQUIRED);
  else faults.addErrors(validate.errors);
}
