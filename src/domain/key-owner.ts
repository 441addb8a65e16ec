/** The owner of a PIX key, as the payer is shown it, and as it is stored with a payment. */
import { maskTaxId, normaliseTaxId } from './tax-id.ts';

/** As the directory says; the provider may have masked the document. */
interface FoundOwner {
  readonly name: string | null;
  readonly document: string | null;
  readonly ispb: string | null;
}

/** The owner of a PIX key, as far as the directory says; the document is masked. */
export interface ShownOwner {
  readonly name?: string;
  readonly document?: string;
  /** The institution of the owner's account, eight characters. */
  readonly ispb?: string;
}

/** @returns the owner as the payer may see it: document masked, unknown fields omitted. */
export function shownOwner({ name, document, ispb }: FoundOwner): ShownOwner {
  const masked = document === null ? null : maskedDocument(document);
  return {
    ...(name !== null && { name }),
    ...(masked !== null && { document: masked }),
    ...(ispb !== null && { ispb }),
  };
}

/** The provider may have masked the document already. */
function maskedDocument(document: string): string | null {
  if (/^[\d.*/-]*\*[\d.*/-]*$/.test(document)) return document;
  return maskTaxId(normaliseTaxId(document) ?? '');
}
