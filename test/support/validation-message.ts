/**
 * @param errors of a 422, in English.
 * @returns its `message`: the sentence of the only fault, or that there are several.
 */
export function messageOf(errors: Readonly<Record<string, readonly string[]>>): string {
  const [only, ...more] = Object.values(errors).flat();
  return only !== undefined && more.length === 0 ? only : 'Some fields are missing or invalid.';
}
