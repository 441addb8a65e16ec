/** Who registers and where they live: from what a person types to what is stored. */
import type { Text } from '../errors.ts';
import { normaliseCep } from './cep.ts';
import { isEmail, MAX_EMAIL_LENGTH } from './email.ts';
import {
  fieldFaults,
  NOT_AN_EMAIL,
  PASSWORDS_DIFFER,
  tooLong,
  tooShort,
  WEAK_PASSWORD,
  type Reading,
} from './faults.ts';
import { formFault, type FormName } from './forms.ts';
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

/** What a registration is asked for, as typed. */
export interface PersonForm {
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly password_confirmation: string;
  readonly document: string;
  readonly phone: string;
}

/** Who registers, in the form that is stored. */
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

/** An address in the form that is stored and sent to the provider. */
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

/** Reads what a person gives to register; the document is a CPF with right check digits. */
export function readPerson(form: PersonForm): Reading<Person> {
  const faults = fieldFaults(personFaults(form));
  return faults ? { value: null, faults } : { value: personOf(form), faults: null };
}

/** @returns what is wrong with a new password, which has 8 to 128 characters, or null. */
export function passwordFault(password: string): Text | null {
  return textFault(password, { min: MIN_PASSWORD_LENGTH, max: MAX_PASSWORD_LENGTH });
}

/**
 * Reads an address in Brazil.
 *
 * @param at what the field names begin with where the address is part of a form: `address.`.
 */
export function readAddress(form: AddressForm, at = ''): Reading<Address> {
  const line = { form: 'line', max: MAX_LINE_LENGTH } as const;
  const faults = fieldFaults({
    [`${at}cep`]: formFault('cep', form.cep),
    [`${at}logradouro`]: textFault(form.logradouro, line),
    [`${at}numero`]: textFault(form.numero, { form: 'line', max: MAX_NUMBER_LENGTH }),
    [`${at}complemento`]: textFault(form.complemento ?? '', { ...line, form: 'optional-line' }),
    [`${at}bairro`]: textFault(form.bairro, line),
    [`${at}cidade`]: textFault(form.cidade, line),
    [`${at}estado`]: formFault('state', form.estado),
  });
  return faults ? { value: null, faults } : { value: addressOf(form), faults: null };
}

function personFaults(form: PersonForm): Record<string, Text | null> {
  return {
    name: textFault(form.name, { form: 'name', max: MAX_NAME_LENGTH }),
    email: emailFault(form.email.trim()),
    password: passwordFault(form.password) ?? weakness(form.password, form.email.trim()),
    password_confirmation: form.password_confirmation === form.password ? null : PASSWORDS_DIFFER,
    document: formFault('cpf', form.document),
    phone: formFault('phone', form.phone),
  };
}

/** Refuses the e-mail, one repeated character and what attackers try first, in any case. */
function weakness(password: string, email: string): Text | null {
  const plain = normalised(password, 'NFKC').toLowerCase();
  const isRepeated = new Set(plain).size === 1;
  const isWeak = isRepeated || plain === email.toLowerCase() || guessedPasswords.has(plain);
  return isWeak ? WEAK_PASSWORD : null;
}

/** The form must be without faults: a document or a phone that cannot be read would be lost. */
function personOf(form: PersonForm): Person {
  return {
    name: tidyLine(form.name),
    email: form.email.trim(),
    password: form.password,
    document: normaliseTaxId(form.document) ?? '',
    phone: toE164(form.phone) ?? '',
  };
}

/** The form must be without faults. */
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
function textFault(
  text: string,
  { form, min = 0, max }: { form?: FormName; min?: number; max: number },
): Text | null {
  if (text.length > 2 * max) return tooLong(max);
  const { length } = [...text];
  if (length < min) return tooShort(min);
  if (length > max) return tooLong(max);
  return form ? formFault(form, text) : null;
}

function emailFault(email: string): Text | null {
  if (email.length > MAX_EMAIL_LENGTH) return tooLong(MAX_EMAIL_LENGTH);
  return isEmail(email) ? null : NOT_AN_EMAIL;
}
