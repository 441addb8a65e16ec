/** Detects the type of an uploaded document from its content, not from the client's headers. */
import type { Text } from '../errors.ts';

export type DocumentContentType = 'application/pdf' | 'image/jpeg' | 'image/png';

export const EMPTY_FILE: Text = {
  en: 'The file must not be empty.',
  pt: 'O arquivo não pode estar vazio.',
};

export const NOT_A_DOCUMENT: Text = {
  en: 'The file must be a PDF, JPEG or PNG.',
  pt: 'O arquivo deve ser PDF, JPEG ou PNG.',
};

export const BROKEN_FILE: Text = {
  en: 'The file is incomplete, damaged or protected. Save or photograph the document again.',
  pt: 'O arquivo está incompleto, danificado ou protegido. Salve ou fotografe o documento de novo.',
};

export const ACTIVE_PDF: Text = {
  en: 'The PDF must not contain scripts, actions or other files. Save it again as pages only.',
  pt: 'O PDF não pode conter scripts, ações ou outros arquivos. Salve-o de novo só com as páginas.',
};

/** The header of a PDF (ISO 32000-2, section 7.5.2); some writers put blanks before it. */
const PDF = /^(?:\xef\xbb\xbf)?[\0\t\n\f\r ]{0,32}%PDF-\d/;

/** SOI and the first byte of the next marker (ISO/IEC 10918-1, annex B). */
const JPEG = Buffer.from([0xff, 0xd8, 0xff]);

/** The signature (ISO/IEC 15948, section 5.2). */
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** Longer than any of these signatures. */
const HEAD_BYTES = 64;

/**
 * @param content a document, or the beginning of one.
 * @returns its type, or null when it is not accepted.
 */
export function detectContentType(content: Buffer): DocumentContentType | null {
  if (content.subarray(0, JPEG.length).equals(JPEG)) return 'image/jpeg';
  if (content.subarray(0, PNG.length).equals(PNG)) return 'image/png';
  return PDF.test(content.toString('latin1', 0, HEAD_BYTES)) ? 'application/pdf' : null;
}
