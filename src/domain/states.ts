/** The codes of the 26 states of Brazil and the federal district. */
export const states = [
  ...['AC', 'AL', 'AM', 'AP', 'BA', 'CE', 'DF', 'ES', 'GO', 'MA', 'MG', 'MS', 'MT', 'PA'],
  ...['PB', 'PE', 'PI', 'PR', 'RJ', 'RN', 'RO', 'RR', 'RS', 'SC', 'SE', 'SP', 'TO'],
] as const;

export type State = (typeof states)[number];

/** @returns the state of a two-letter code in any case, or null. */
export function toState(text: string): State | null {
  // Tested before upper-casing, which would turn a dotless i into a plain letter.
  if (!/^[A-Za-z]{2}$/.test(text)) return null;
  return states.find((state) => state === text.toUpperCase()) ?? null;
}
