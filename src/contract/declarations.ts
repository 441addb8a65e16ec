/** The operations of an OpenAPI document as they are declared, with their references followed. */
import type { OpenApiDocument, Place } from './document.ts';

const methods = ['get', 'put', 'post', 'delete', 'patch'] as const;

/** OpenAPI ignores header parameters with these names. */
const protocolHeaders = new Set(['accept', 'content-type', 'authorization']);

/** Where a parameter is in a request; the contract declares no cookies. */
export type ParameterPlace = 'path' | 'query' | 'header';

export interface DeclaredParameter {
  readonly name: string;
  readonly in: ParameterPlace;
  readonly required: boolean;
  /** The object that has the parameter's `schema`. */
  readonly place: Place;
}

/** A body of one media type. */
export interface DeclaredContent {
  readonly media: string;
  /** The object that has the body's `schema`. */
  readonly place: Place;
}

export interface DeclaredBody extends DeclaredContent {
  readonly required: boolean;
  /** The whole `requestBody`. */
  readonly body: Place;
}

export interface DeclaredReply {
  /** A status, or `default`. */
  readonly status: string;
  /** Null for a response without a body. */
  readonly content: DeclaredContent | null;
}

/** An operation and its path, as the document declares them. */
export interface Declaration {
  readonly id: string;
  /** In capitals, as on the wire. */
  readonly method: string;
  /** Below the server, as the document has it. */
  readonly path: string;
  readonly operation: Place;
  readonly parameters: readonly DeclaredParameter[];
  readonly body: DeclaredBody | null;
  readonly replies: readonly DeclaredReply[];
}

/**
 * Reads the operations in the order of the document.
 * @throws Error when an operation has no `operationId`, or a body has several media types.
 */
export function declaredOperations(document: OpenApiDocument): Declaration[] {
  return document.entries(document.find(document.root, 'paths')).flatMap(({ key: path, place }) =>
    methods.flatMap((method) => {
      const operation = document.find(place, method);
      if (operation === null) return [];
      const id = operation.value['operationId'];
      if (typeof id !== 'string') throw new Error(`${method} ${path} has no operationId`);
      return {
        id,
        method: method.toUpperCase(),
        path,
        operation,
        parameters: declaredParameters(document, [place, operation]),
        body: declaredBody(document, operation, id),
        replies: declaredReplies(document, operation, id),
      };
    }),
  );
}

/** @param owners the path and its operation, which overrides parameters of the same name. */
function declaredParameters(
  document: OpenApiDocument,
  owners: readonly Place[],
): DeclaredParameter[] {
  const byName = new Map<string, DeclaredParameter>();
  for (const owner of owners) {
    for (const { place } of document.entries(document.find(owner, 'parameters'))) {
      const name = String(place.value['name']);
      const where = place.value['in'] as ParameterPlace;
      if (where === 'header' && protocolHeaders.has(name.toLowerCase())) continue;
      const required = place.value['required'] === true;
      byName.set(`${where} ${name}`, { name, in: where, required, place });
    }
  }
  return [...byName.values()];
}

function declaredBody(
  document: OpenApiDocument,
  operation: Place,
  id: string,
): DeclaredBody | null {
  const body = document.find(operation, 'requestBody');
  const content = body && declaredContent(document, body, id);
  return content && { ...content, required: body.value['required'] === true, body };
}

function declaredReplies(document: OpenApiDocument, operation: Place, id: string): DeclaredReply[] {
  return document
    .entries(document.find(operation, 'responses'))
    .map(({ key, place }) => ({ status: key, content: declaredContent(document, place, id) }));
}

function declaredContent(
  document: OpenApiDocument,
  owner: Place,
  id: string,
): DeclaredContent | null {
  const [content, ...others] = document.entries(document.find(owner, 'content'));
  if (others.length > 0) throw new Error(`${id} has a body of several media types`);
  return content ? { media: content.key, place: content.place } : null;
}
