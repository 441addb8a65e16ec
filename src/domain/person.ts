/** Validates and normalises the personal data and the address of a registration. */
import type { Text } from '../errors.ts';
import { isTownCep, normaliseCep, toState } from './cep.ts';
import { isEmail, maxEmailLength, toE164 } from './contact.ts';
import { formatError, type FormatName } from './formats.ts';
import { normaliseTaxId } from './tax-id.ts';
import { cleanPasted, isSamePassword, normalisePassword, tidyLine } from './text.ts';
import {
  fieldErrors,
  notAnEmail,
  passwordsDiffer,
  type Reading,
  tooLong,
  weakPassword,
} from './validation-errors.ts';

const maxNameLength = 140;

const maxLineLength = 140;

const maxNumberLength = 20;

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
  /** May be empty where a whole town has one CEP. */
  readonly bairro?: string | undefined;
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
  return errors ? { value: null, errors } : { value: normalisePerson(form), errors: null };
}

/** @returns the error of a new password, which must have 8 to 128 characters, or null. */
export function passwordError(password: string): Text | null {
  return formatError('new-password', password);
}

/**
 * @param email of the user whose password it will be.
 * @returns the error of a new password, which must also be hard to guess, or null.
 */
export function newPasswordError(password: string, email: string): Text | null {
  return passwordError(password) ?? weakness(password, email);
}

/**
 * Reads an address in Brazil.
 *
 * @param at the prefix of the field names where the address is part of a form: `address.`.
 */
export function readAddress(form: AddressForm, at = ''): Reading<Address> {
  const line = { form: 'line', max: maxLineLength } as const;
  const errors = fieldErrors({
    [`${at}cep`]: formatError('cep', form.cep),
    [`${at}logradouro`]: textError(form.logradouro, line),
    [`${at}numero`]: textError(form.numero, { form: 'line', max: maxNumberLength }),
    [`${at}complemento`]: textError(form.complemento ?? '', { ...line, form: 'optional-line' }),
    [`${at}bairro`]: textError(form.bairro ?? '', {
      ...line,
      ...(isTownCep(form.cep) && { form: 'optional-line' }),
    }),
    [`${at}cidade`]: textError(form.cidade, line),
    [`${at}estado`]: formatError('state', form.estado),
  });
  return errors ? { value: null, errors } : { value: normaliseAddress(form), errors: null };
}

/** What is valid of a form that is refused for other fields. */
export interface RefusedPerson {
  readonly email?: string | null;
  readonly password?: string | null;
}

/** @returns the errors of the e-mail and the password, where they have any, or null. */
export function refusedPersonErrors({ email, password }: RefusedPerson) {
  return fieldErrors({
    email: email ? emailError(email) : null,
    password: password ? newPasswordError(password, email ?? '') : null,
  });
}

function personErrors(form: PersonForm): Record<string, Text | null> {
  return {
    name: textError(form.name, { form: 'name', max: maxNameLength }),
    email: emailError(cleanPasted(form.email)),
    password: newPasswordError(form.password, cleanPasted(form.email)),
    password_confirmation: isSamePassword(form.password_confirmation, form.password)
      ? null
      : passwordsDiffer,
    document: formatError('cpf', form.document),
    phone: formatError('phone', form.phone),
  };
}

const characters = new Intl.Segmenter('pt-BR', { granularity: 'grapheme' });

/** Whether a text is empty or one repeated character, such as a flag of two code points. */
function isRepeated(text: string): boolean {
  return new Set(Array.from(characters.segment(text), ({ segment }) => segment)).size <= 1;
}

/**
 * Refuses the e-mail, white space, one repeated character and common passwords, in any case. A
 * password that looks empty, because its characters are invisible, counts as white space. A
 * repetition shows as typed too: the normalised form of some characters is several others.
 */
function weakness(password: string, email: string): Text | null {
  const plain = cleanPasted(normalisePassword(password)).toLowerCase();
  const isGuessed = plain === email.toLowerCase() || guessedPasswords.has(plain);
  return isGuessed || isRepeated(plain) || isRepeated(password.trim()) ? weakPassword : null;
}

/** The form must be valid: an unreadable document or phone would become empty. */
function normalisePerson(form: PersonForm): Person {
  return {
    name: tidyLine(form.name),
    email: cleanPasted(form.email),
    password: form.password,
    document: normaliseTaxId(form.document) ?? '',
    phone: toE164(form.phone) ?? '',
  };
}

/** The form must be valid. */
function normaliseAddress(form: AddressForm): Address {
  return {
    cep: normaliseCep(form.cep) ?? '',
    logradouro: tidyLine(form.logradouro),
    numero: tidyLine(form.numero),
    complemento: tidyLine(form.complemento ?? '') || null,
    bairro: tidyLine(form.bairro ?? ''),
    cidade: tidyLine(form.cidade),
    estado: toState(form.estado) ?? '',
  };
}

/** Lengths are counted in code points, as JSON Schema counts them. */
function textError(text: string, { form, max }: { form: FormatName; max: number }): Text | null {
  if (text.length > 2 * max) return tooLong(max);
  return [...text].length > max ? tooLong(max) : formatError(form, text);
}

function emailError(email: string): Text | null {
  if (email.length > maxEmailLength) return tooLong(maxEmailLength);
  return isEmail(email) ? null : notAnEmail;
}

/** Passwords of eight and more characters that attackers try first, in lower case. */
const guessedPasswords: ReadonlySet<string> = new Set(
  `
  01234567 0123456789 10203040 1020304050 102030405060 11223344 1122334455 112233445566 12121212
  123123123 123321123 12341234 12344321 12345678 123456780 123456789 1234567890 12345678910
  123456789a 12345678a 1234abcd 123654789 147258369 147852369 159357159 159753159 1q2w3e4r
  1q2w3e4r5t 1q2w3e4r5t6y 1qaz2wsx 1qazxsw2 321654987 741852963 789456123 87654321 987654321
  9876543210 a12345678 a123456789 abc12345 abc123456 abcd1234 abcdefg1 abcdefgh abcdefghi
  acesso123 acesso1234 admin123 admin1234 administrador administrator amanda123 amordedeus
  amordeus amoremio amormeu1 asdf1234 asdfghjk asdfghjkl atletico atletico1 atleticomg banco123
  baseball batman123 beatriz1 beatriz123 bemvindo bemvindo1 borboleta borboleta1 botafogo
  botafogo1 brasil10 brasil123 brasil2014 brasil2022 brasileiro bruno123 cachorro cachorro1
  camila123 carolina carolina1 changeme changeme1 chocolate chocolate1 cliente1 cliente123
  computer conta123 contrasena contraseña corinthians corinthians1 corinthians10 cruzeiro
  cruzeiro1 cruzeiro10 daniel123 deusamor deuseamor deusefiel deusefiel1 deusefiel123 dinheiro
  dinheiro1 dinheiro123 dragon123 eduarda1 eduardo1 esqueci1 esqueci123 estrela1 estrela123
  euteamo1 euteamo123 facebook facebook1 familia1 familia123 felicidade felipe123 fernanda
  fernanda1 fernando fernando1 flamengo flamengo1 flamengo10 flamengo123 fluminense fluminense1
  football gabriel1 gabriel123 gabriela gabriela1 gmail123 google123 gratidao gremio10 gremio123
  guilherme guilherme1 gustavo1 gustavo123 hotmail1 hotmail123 iloveyou iloveyou1 instagram
  internacional internet isabela1 isabella jennifer jesus123 jesusama jesusamor jesuscristo
  jesuseteamo jesusteama joao1234 joaopedro joaovitor jordan23 juliana1 juliana123 larissa1
  larissa123 leonardo leonardo1 leticia1 leticia123 letmein1 letmein123 lucas123 maria123
  mariaclara mariaeduarda mariana1 mariana123 master123 matheus1 matheus123 meuamor1 meuamor123
  michael1 minhasenha minhasenha1 minhavida monkey123 motdepasse mudar123 mudar@123 naolembro
  naoseinao p@ssw0rd p@ssword p@ssword1 pa$$word palmeiras palmeiras1 palmeiras10 passw0rd
  password password1 password12 password123 password1234 passwort pedro123 pix12345 pokemon1
  pokemon123 princesa princess q1w2e3r4 q1w2e3r4t5 qazwsxedc qualquer qwer1234 qwerty12 qwerty123
  qwerty1234 qwerty12345 qwertyui qwertyuiop rafael123 rafaela1 ricardo1 rodrigo1 root1234
  s3nha123 samsung1 samsung123 santos123 santosfc saopaulo saopaulo1 saopaulofc secret123
  seguranca senha123 senha1234 senha12345 senha123456 senha2020 senha2021 senha2022 senha2023
  senha2024 senha2025 senha2026 senha@123 senha@1234 senhasenha shadow123 starwars suasenha
  sunshine superman superman1 teamo123 test1234 testando teste123 teste1234 testtest trocarsenha
  trustno1 universo usuario1 usuario123 vasco123 vascodagama vascodagama1 victoria vitoria1
  vitoria123 welcome1 welcome123 whatever whatsapp whatsapp1 zaq12wsx zxcvbnm1 zxcvbnm123
`
    .trim()
    .split(/\s+/),
);
