/** The owner of a Pix key, as the payer is shown it, and as it is stored with a payment. */
import { maskTaxId, normaliseTaxId } from './tax-id.ts';

/** As the directory says; the provider may have masked the document. */
interface FoundOwner {
  readonly name: string | null;
  readonly document: string | null;
  readonly ispb: string | null;
}

/** The owner of a Pix key, as far as the directory says; the document is masked. */
export interface ShownOwner {
  readonly name?: string;
  readonly document?: string;
  /** The institution of the owner's account, eight characters. */
  readonly ispb?: string;
}

/** @returns the owner as the payer may see it: document masked, unknown fields omitted. */
export function maskedOwner({ name, document, ispb }: FoundOwner): ShownOwner {
  const masked = document === null ? null : maskedDocument(document);
  return {
    ...(name !== null && { name }),
    ...(masked !== null && { document: masked }),
    ...(ispb !== null && { ispb }),
  };
}

/**
 * Returns a text that two look-ups have in common only when they found the same owner: the document
 * and the institution, and for a masked document, which several people share, also the name.
 * @returns null when the directory does not say enough to compare.
 */
export function ownerIdentity({ name, document, ispb }: FoundOwner): string | null {
  if (document === null || ispb === null) return null;
  const taxId = normaliseTaxId(document);
  if (taxId !== null) return JSON.stringify([taxId, ispb]);
  const isComparable = isMasked(document) && document.replace(/\D/g, '').length >= fewestDigits;
  return isComparable && name !== null ? JSON.stringify([document, ispb, name]) : null;
}

/** The digits that a masked document shows at least, as in `***.456.789-**`. */
const fewestDigits = 6;

/** The provider may have masked the document already. */
function maskedDocument(document: string): string | null {
  return isMasked(document) ? document : maskTaxId(normaliseTaxId(document) ?? '');
}

function isMasked(document: string): boolean {
  return /^[\d.*/-]*\*[\d.*/-]*$/.test(document);
}
