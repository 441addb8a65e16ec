/** A PIX key as somebody typed it into a field. */
import { normalisePixKey } from '../domain/pix-key.ts';
import { invalidField, type Text } from '../errors.ts';

const blank: Text = { en: 'The text must not be empty.', pt: 'O texto não deve ser vazio.' };

/**
 * @returns the key in the directory's form.
 * @throws AppError VALIDATION_FAILED naming the field when it holds nothing but blanks.
 */
export function readTypedPixKey(field: string, text: string): string {
  const { key } = normalisePixKey(text);
  if (key === '') throw invalidField(field, blank);
  return key;
}
