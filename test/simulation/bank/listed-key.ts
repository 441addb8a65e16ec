/**
 * A key that `ana` has listed for her account when it moves to the account of `bia`, who lists it,
 * too. Nobody is paid by it before.
 */
export const portableKey = 'portatil@pix.test';

export const portableKeyOwners = ['ana', 'bia'] as const;

/** @returns the PIX key that the bank lists for a customer. */
export function toListedKey({ name }: { readonly name: string }): string {
  return `${name}@pix.test`;
}
