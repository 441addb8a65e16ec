/** Values of `jsonb`: JavaScript values with their keys in PostgreSQL's order. */

/** The `jsonb` value `null`, as opposed to an SQL NULL. */
export const jsonNull = Symbol('json null');

/** Keys in PostgreSQL's order: shorter ones first. */
export function normalJson(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normalJson);
  if (value === null || typeof value !== 'object') return value;
  const entries = Object.entries(value).map(([key, one]) => [key, normalJson(one)] as const);
  entries.sort(([one], [other]) => one.length - other.length || (one < other ? -1 : 1));
  return Object.fromEntries(entries);
}

/** Reads JSON. */
export function jsonFrom(text: string): unknown {
  const value: unknown = JSON.parse(text);
  return value === null ? jsonNull : normalJson(value);
}

/** A copy for JavaScript, so that no caller changes the stored value. */
export function plainJson(value: unknown): unknown {
  if (value === jsonNull) return null;
  if (Array.isArray(value)) return value.map(plainJson);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, plainJson(one)]));
}

/** Writes a value as the server does. */
export function jsonText(value: unknown): string {
  if (value === jsonNull || value === null) return 'null';
  if (Array.isArray(value)) return `[${value.map(jsonText).join(', ')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const entries = Object.entries(value);
  return `{${entries.map(([key, one]) => `${JSON.stringify(key)}: ${jsonText(one)}`).join(', ')}}`;
}

/** Whether `whole @> part`. */
export function containsJson(whole: unknown, part: unknown): boolean {
  if (Array.isArray(part)) {
    if (!Array.isArray(whole)) return false;
    return part.every((one) => whole.some((other) => containsElement(other, one)));
  }
  if (part !== null && typeof part === 'object') {
    if (whole === null || typeof whole !== 'object' || Array.isArray(whole)) return false;
    const fields = whole as Readonly<Record<string, unknown>>;
    return Object.entries(part).every(
      ([key, one]) => Object.hasOwn(fields, key) && containsElement(fields[key], one),
    );
  }
  if (Array.isArray(whole)) return whole.includes(part);
  return whole === part;
}

/** Inside a value, a list does not contain an element that is not a list. */
function containsElement(whole: unknown, part: unknown): boolean {
  return Array.isArray(whole) === Array.isArray(part) && containsJson(whole, part);
}
