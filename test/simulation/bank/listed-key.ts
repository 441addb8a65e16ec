/** @returns the PIX key that the bank lists for a customer. */
export function listedKeyOf({ name }: { readonly name: string }): string {
  return `${name}@pix.test`;
}
