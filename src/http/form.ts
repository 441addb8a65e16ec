/** A form with a file, which the operation reads as a stream. */
import type { Readable } from 'node:stream';
import { AppError } from '../errors.ts';
import type { FileConsumer, Form } from './operation.ts';
import type { FormContract } from '../contract/contract.ts';
import type { Exchange } from './exchange.ts';
import { NOT_A_FILE } from '../contract/validation-messages.ts';
import { ValidationErrors } from '../contract/validation-errors.ts';
import { readParts, type Multipart } from './multipart.ts';
import { readParameters } from './parameters.ts';

/** The form of one request. */
export class IncomingForm implements Form<unknown> {
  readonly #exchange: Exchange;
  readonly #contract: FormContract;
  readonly #multipart: Multipart;

  constructor(exchange: Exchange, contract: FormContract, multipart: Multipart) {
    this.#exchange = exchange;
    this.#contract = contract;
    this.#multipart = multipart;
  }

  /**
   * Reads the form. The operation counts as begun only when the form has been read: until then, a
   * client that disconnects, is too slow or sends invalid data is refused.
   *
   * @throws AppError VALIDATION_FAILED with every error of the fields and of the file.
   * @throws AppError BAD_REQUEST, PAYLOAD_TOO_LARGE.
   * @throws ClientGone
   */
  async receive<Result>(
    consume: FileConsumer<Result>,
  ): Promise<{ readonly fields: unknown; readonly file: Result }> {
    const exchange = this.#exchange;
    const errors = new ValidationErrors();
    exchange.allowsSlowBody = true;
    exchange.sendContinue();
    const { texts, file } = await this.#readParts(consume, errors);
    const fields = readParameters(this.#contract.fields, (name) => texts.get(name), errors);
    errors.throwIfAny();
    if (file === null) throw new Error('a form without its file has passed the validation');
    exchange.begin();
    return { fields, file: file.value };
  }

  /** Collects the texts of the fields by name; a file counts as an empty text. */
  async #readParts<Result>(consume: FileConsumer<Result>, errors: ValidationErrors) {
    const texts = new Map<string, string[]>();
    const { file: fileField } = this.#contract;
    let result: { readonly value: Result } | null = null;
    await readParts(this.#exchange.request, this.#multipart, {
      text(name, value) {
        if (name === fileField) errors.add(name, NOT_A_FILE);
        addText(texts, name, value);
      },
      async file(name, content) {
        const isFirst = addText(texts, name, '');
        if (name === fileField && isFirst) result = await consumeFile(content, consume, errors);
        // Discards what was not read, so that the rest of the form arrives.
        content.resume();
      },
    });
    return { texts, file: result as { readonly value: Result } | null };
  }
}

/** @returns whether it is the first text with its name. */
function addText(texts: Map<string, string[]>, name: string, text: string): boolean {
  const known = texts.get(name);
  if (known === undefined) texts.set(name, [text]);
  else known.push(text);
  return known === undefined;
}

/** Adds the errors of the file to those of the fields. */
async function consumeFile<Result>(
  content: Readable,
  consume: FileConsumer<Result>,
  errors: ValidationErrors,
): Promise<{ readonly value: Result } | null> {
  try {
    return { value: await consume(content.iterator({ destroyOnReturn: false })) };
  } catch (error) {
    if (!(error instanceof AppError) || error.fields === undefined) throw error;
    for (const [field, texts] of Object.entries(error.fields)) {
      for (const text of texts) errors.add(field, text);
    }
    return null;
  }
}
