/** A form with a file: taken in while the operation runs, so that the file is never held here. */
import type { Readable } from 'node:stream';
import { AppError } from '../errors.ts';
import type { FileTaker, Form } from './operation.ts';
import type { FormContract } from '../contract/contract.ts';
import type { Exchange } from './exchange.ts';
import { NOT_A_FILE } from '../contract/fault-texts.ts';
import { Faults } from '../contract/faults.ts';
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
   * Reads the form. The work of the operation begins with its end: until then the client may leave,
   * be too slow or turn out to be wrong, and is refused as if nothing had been done.
   *
   * @throws AppError VALIDATION_FAILED with every fault of the fields and of the file.
   * @throws AppError BAD_REQUEST, PAYLOAD_TOO_LARGE.
   * @throws ClientGone
   */
  async receive<Taken>(
    take: FileTaker<Taken>,
  ): Promise<{ readonly fields: unknown; readonly taken: Taken }> {
    const exchange = this.#exchange;
    const faults = new Faults();
    exchange.mayComeSlowly = true;
    exchange.awaitBody();
    const { texts, taken } = await this.#readParts(take, faults);
    const fields = readParameters(this.#contract.fields, (name) => texts.get(name), faults);
    faults.refuse();
    if (taken === null) throw new Error('a form without its file has passed the validation');
    exchange.begin();
    return { fields, taken: taken.value };
  }

  /** Texts are the fields' by name; a file stands as an empty one, its own faults apart. */
  async #readParts<Taken>(take: FileTaker<Taken>, faults: Faults) {
    const texts = new Map<string, string[]>();
    const { file: fileField } = this.#contract;
    let taken: { readonly value: Taken } | null = null;
    await readParts(this.#exchange.request, this.#multipart, {
      text(name, value) {
        if (name === fileField) faults.add(name, NOT_A_FILE);
        addText(texts, name, value);
      },
      async file(name, content) {
        const isFirst = addText(texts, name, '');
        if (name === fileField && isFirst) taken = await takenFrom(content, take, faults);
        // What nobody has read flows away, so that the rest of the form comes.
        content.resume();
      },
    });
    return { texts, taken: taken as { readonly value: Taken } | null };
  }
}

/** @returns whether it is the first text of its name. */
function addText(texts: Map<string, string[]>, name: string, text: string): boolean {
  const known = texts.get(name);
  if (known === undefined) texts.set(name, [text]);
  else known.push(text);
  return known === undefined;
}

/** What is wrong with the file is told together with what is wrong with the fields. */
async function takenFrom<Taken>(
  content: Readable,
  take: FileTaker<Taken>,
  faults: Faults,
): Promise<{ readonly value: Taken } | null> {
  try {
    return { value: await take(content.iterator({ destroyOnReturn: false })) };
  } catch (error) {
    if (!(error instanceof AppError) || error.fields === undefined) throw error;
    for (const [field, texts] of Object.entries(error.fields)) {
      for (const text of texts) faults.add(field, text);
    }
    return null;
  }
}
