/** Derives the closed form of a contract's replies, which the published contract leaves open. */

/**
 * Closes every object schema that lists its properties and does not say whether it has others: a
 * field outside the contract is a defect of the service, while its clients ignore it.
 *
 * @param document an OpenAPI document without `allOf`; the result is only for replies, because
 *   unknown fields of requests are ignored.
 * @returns a copy with `additionalProperties: false` in those schemas.
 */
export function closedReplies(document: object): object {
  return closed(document) as object;
}

function closed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closed);
  if (typeof part !== 'object' || part === null) return part;
  const copy = Object.fromEntries(Object.entries(part).map(([key, value]) => [key, closed(value)]));
  const isOpen = copy['type'] === 'object' && 'properties' in copy;
  return isOpen ? { additionalProperties: false, ...copy } : copy;
}
