/**
 * Tells the type of an uploaded document from its first bytes. That is all: Ponte never opens,
 * renders or serves a document.
 */
import type { Text } from '../errors.ts';

export type DocumentContentType = 'application/pdf' | 'image/jpeg' | 'image/png';

export const emptyFile: Text = {
  en: 'The file must not be empty.',
  pt: 'O arquivo não pode estar vazio.',
};

export const notADocument: Text = {
  en: 'The file must be a PDF, JPEG or PNG.',
  pt: 'O arquivo deve ser PDF, JPEG ou PNG.',
};

export const refusedByScanner: Text = {
  en: 'The file is refused by the virus scanner. Save or photograph the document again.',
  pt: 'O arquivo foi recusado pelo antivírus. Salve ou fotografe o documento de novo.',
};

/** The library's types; an animated PNG is a PNG. */
const accepted: Readonly<Record<string, DocumentContentType>> = {
  'application/pdf': 'application/pdf',
  'image/jpeg': 'image/jpeg',
  'image/png': 'image/png',
  'image/apng': 'image/png',
};

/** More than any of these types needs. */
const headBytes = 4_100;

/**
 * @param content a document, or the beginning of one.
 * @returns its type, or null when it is not accepted.
 */
export async function detectContentType(content: Buffer): Promise<DocumentContentType | null> {
  const { fileTypeFromBuffer } = await import('file-type');
  const head = withoutBlanks(content.subarray(0, headBytes));
  const type = await fileTypeFromBuffer(head).catch(() => undefined);
  return type ? (accepted[type.mime] ?? null) : null;
}

/** Some writers put blanks or a byte order mark before a PDF, which the library does not expect. */
function withoutBlanks(head: Buffer): Buffer {
  const [blanks = ''] =
    /^(?:\xef\xbb\xbf)?[\t\n\f\r ]{0,32}/.exec(head.toString('latin1', 0, 64)) ?? [];
  return head.subarray(blanks.length);
}
