/** Validates and normalises the personal data and the address of a registration. */
import type { Text } from '../errors.ts';
import { normaliseCep } from './cep.ts';
import { isEmail, MAX_EMAIL_LENGTH } from './email.ts';
import {
  fieldErrors,
  NOT_AN_EMAIL,
  PASSWORDS_DIFFER,
  tooLong,
  tooShort,
  WEAK_PASSWORD,
  type Reading,
} from './validation-errors.ts';
import { formatError, type FormatName } from './formats.ts';
import { guessedPasswords } from './guessed-passwords.ts';
import { toE164 } from './phone.ts';
import { toState } from './states.ts';
import { normaliseTaxId } from './tax-id.ts';
import { normalised, tidyLine } from './text.ts';

const MAX_NAME_LENGTH = 140;

const MAX_LINE_LENGTH = 140;

const MAX_NUMBER_LENGTH = 20;

const MIN_PASSWORD_LENGTH = 8;
const MAX_PASSWORD_LENGTH = 128;

/** The personal data of a registration, as typed. */
export interface PersonForm {
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly password_confirmation: string;
  readonly document: string;
  readonly phone: string;
}

/** The normalised personal data of a registration. */
export interface Person {
  /** One line of at most 140 characters in Unicode's composed form (NFC). */
  readonly name: string;
  /** As typed; e-mails are compared without regard to case. */
  readonly email: string;
  readonly password: string;
  /** A CPF, eleven digits. */
  readonly document: string;
  /** E.164. */
  readonly phone: string;
}

export interface AddressForm {
  readonly cep: string;
  readonly logradouro: string;
  readonly numero: string;
  readonly complemento?: string | null | undefined;
  readonly bairro: string;
  readonly cidade: string;
  readonly estado: string;
}

/** A normalised address, as stored and sent to the provider. */
export interface Address {
  /** Eight digits. */
  readonly cep: string;
  readonly logradouro: string;
  readonly numero: string;
  readonly complemento: string | null;
  readonly bairro: string;
  readonly cidade: string;
  /** The two capital letters of a state. */
  readonly estado: string;
}

/** Reads the data of a registration; the document must be a CPF with valid check digits. */
export function readPerson(form: PersonForm): Reading<Person> {
  const errors = fieldErrors(personErrors(form));
  return errors ? { value: null, errors } : { value: personOf(form), errors: null };
}

/** @returns the error of a new password, which must have 8 to 128 characters, or null. */
export function passwordError(password: string): Text | null {
  return textError(password, { min: MIN_PASSWORD_LENGTH, max: MAX_PASSWORD_LENGTH });
}

/**
 * Reads an address in Brazil.
 *
 * @param at the prefix of the field names where the address is part of a form: `address.`.
 */
export function readAddress(form: AddressForm, at = ''): Reading<Address> {
  const line = { form: 'line', max: MAX_LINE_LENGTH } as const;
  const errors = fieldErrors({
    [`${at}cep`]: formatError('cep', form.cep),
    [`${at}logradouro`]: textError(form.logradouro, line),
    [`${at}numero`]: textError(form.numero, { form: 'line', max: MAX_NUMBER_LENGTH }),
    [`${at}complemento`]: textError(form.complemento ?? '', { ...line, form: 'optional-line' }),
    [`${at}bairro`]: textError(form.bairro, line),
    [`${at}cidade`]: textError(form.cidade, line),
    [`${at}estado`]: formatError('state', form.estado),
  });
  return errors ? { value: null, errors } : { value: addressOf(form), errors: null };
}

function personErrors(form: PersonForm): Record<string, Text | null> {
  return {
    name: textError(form.name, { form: 'name', max: MAX_NAME_LENGTH }),
    email: emailError(form.email.trim()),
    password: passwordError(form.password) ?? weakness(form.password, form.email.trim()),
    password_confirmation: form.password_confirmation === form.password ? null : PASSWORDS_DIFFER,
    document: formatError('cpf', form.document),
    phone: formatError('phone', form.phone),
  };
}

/** Refuses the e-mail, one repeated character and common passwords, in any case. */
function weakness(password: string, email: string): Text | null {
  const plain = normalised(password, 'NFKC').toLowerCase();
  const isRepeated = new Set(plain).size === 1;
  const isWeak = isRepeated || plain === email.toLowerCase() || guessedPasswords.has(plain);
  return isWeak ? WEAK_PASSWORD : null;
}

/** The form must be valid: an unreadable document or phone would become empty. */
function personOf(form: PersonForm): Person {
  return {
    name: tidyLine(form.name),
    email: form.email.trim(),
    password: form.password,
    document: normaliseTaxId(form.document) ?? '',
    phone: toE164(form.phone) ?? '',
  };
}

/** The form must be valid. */
function addressOf(form: AddressForm): Address {
  return {
    cep: normaliseCep(form.cep) ?? '',
    logradouro: tidyLine(form.logradouro),
    numero: tidyLine(form.numero),
    complemento: tidyLine(form.complemento ?? '') || null,
    bairro: tidyLine(form.bairro),
    cidade: tidyLine(form.cidade),
    estado: toState(form.estado) ?? '',
  };
}

/** Lengths are counted in code points, as JSON Schema counts them. */
function textError(
  text: string,
  { form, min = 0, max }: { form?: FormatName; min?: number; max: number },
): Text | null {
  if (text.length > 2 * max) return tooLong(max);
  const { length } = [...text];
  if (length < min) return tooShort(min);
  if (length > max) return tooLong(max);
  return form ? formatError(form, text) : null;
}

function emailError(email: string): Text | null {
  if (email.length > MAX_EMAIL_LENGTH) return tooLong(MAX_EMAIL_LENGTH);
  return isEmail(email) ? null : NOT_AN_EMAIL;
}
