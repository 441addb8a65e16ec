/** Multipart forms as bytes, so that tests can also send forms that no client would. */

export const formBoundary = '----ponte-test-boundary';

export const formType = `multipart/form-data; boundary=${formBoundary}`;

export interface Part {
  readonly name: string;
  /** The file name that the client sends; null: the part is a plain field. */
  readonly filename?: string | null;
  readonly type?: string;
  readonly content: string | Buffer;
}

/** A file whose name tries to leave its folder. */
export function filePart(content: string | Buffer, part: Partial<Part> = {}): Part {
  return { name: 'arquivo', filename: '../../etc/passwd', type: 'image/png', ...part, content };
}

export function fieldPart(content: string, name = 'tipo_documento'): Part {
  return { name, content };
}

/** A complete form, with its closing boundary. */
export function makeForm(...parts: readonly Part[]): Buffer {
  return Buffer.concat([...parts.map(partBytes), Buffer.from(`--${formBoundary}--\r\n`)]);
}

/** A part with the boundary before it and the line break after it. */
export function partBytes(part: Part): Buffer {
  return Buffer.concat([partHead(part), Buffer.from(part.content), Buffer.from('\r\n')]);
}

/** A part up to the beginning of its content. */
export function partHead({ name, filename = null, type }: Omit<Part, 'content'>): Buffer {
  const file = filename === null ? '' : `; filename="${filename}"`;
  const typeLine = type === undefined ? '' : `Content-Type: ${type}\r\n`;
  return Buffer.from(
    `--${formBoundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n${typeLine}\r\n`,
  );
}
