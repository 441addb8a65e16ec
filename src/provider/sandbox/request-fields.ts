/**
 * Strict reading of what the provider is sent: the sandbox is there to find a client that writes
 * other names or types than were agreed.
 */
import { centsFromNumber } from '../../domain/money.ts';
import { BadRequest } from './messages.ts';

/** The fields of a JSON object, by their exact names. */
export class RequestFields {
  readonly #fields: ReadonlyMap<string, unknown>;
  readonly #place: string;

  /** @throws BadRequest when it is no object. */
  constructor(body: unknown, place = '') {
    if (typeof body !== 'object' || body === null || Array.isArray(body)) {
      throw new BadRequest(`${place === '' ? 'the body' : place} is no object`);
    }
    this.#fields = new Map(Object.entries(body));
    this.#place = place;
  }

  /** A text that has to be there. */
  text(name: string): string {
    const value = this.optionalText(name);
    if (value === null) throw new BadRequest(`${this.#nameOf(name)} is missing`);
    return value;
  }

  /** A text, or null when the field is not there. */
  optionalText(name: string): string | null {
    const value = this.#fields.get(name);
    if (value === undefined) return null;
    if (typeof value !== 'string') throw new BadRequest(`${this.#nameOf(name)} is no text`);
    return value;
  }

  /** A whole number that has to be there. */
  integer(name: string): number {
    const value = this.#fields.get(name);
    if (!Number.isSafeInteger(value)) {
      throw new BadRequest(`${this.#nameOf(name)} is no whole number`);
    }
    return value as number;
  }

  /** A number, or null when the field is not there. */
  optionalNumber(name: string): number | null {
    const value = this.#fields.get(name);
    if (value === undefined) return null;
    if (typeof value !== 'number') throw new BadRequest(`${this.#nameOf(name)} is no number`);
    return value;
  }

  /** An amount in reais. @returns centavos; NaN for an amount that the bank has to refuse. */
  amountCents(name: string): number {
    const value = this.optionalNumber(name);
    if (value === null) throw new BadRequest(`${this.#nameOf(name)} is missing`);
    return centsFromNumber(value) ?? Number.NaN;
  }

  /** True or false; false when the field is not there. */
  flag(name: string): boolean {
    const value = this.#fields.get(name) ?? false;
    if (typeof value !== 'boolean') throw new BadRequest(`${this.#nameOf(name)} is no boolean`);
    return value;
  }

  /** An object that has to be there. */
  object(name: string): RequestFields {
    return new RequestFields(this.#fields.get(name), this.#nameOf(name));
  }

  /** The objects of a list; none when the field is not there. */
  list(name: string): RequestFields[] {
    const value = this.#fields.get(name) ?? [];
    if (!Array.isArray(value)) throw new BadRequest(`${this.#nameOf(name)} is no list`);
    return value.map((item, index) => new RequestFields(item, `${this.#nameOf(name)}.${index}`));
  }

  #nameOf(name: string): string {
    return this.#place === '' ? name : `${this.#place}.${name}`;
  }
}
