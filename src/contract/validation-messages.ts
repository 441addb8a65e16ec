/** The messages of validation errors, by the JSON Schema keyword that found them. */
import {
  EMPTY,
  NOT_AN_EMAIL,
  PASSWORDS_DIFFER,
  REQUIRED,
  tooLong,
  tooShort,
} from '../domain/validation-errors.ts';
import type { Text } from '../errors.ts';
import type { ErrorObject } from './schemas.ts';

type Params = Readonly<Record<string, unknown>>;

export const REPEATED_PARAMETER: Text = {
  en: 'The parameter must not be repeated.',
  pt: 'O parâmetro não pode ser repetido.',
};

export const UNKNOWN_PARAMETER: Text = {
  en: 'There is no such parameter.',
  pt: 'Este parâmetro não existe.',
};

export const NOT_A_FILE: Text = {
  en: 'The value must be sent as a file.',
  pt: 'O valor deve ser enviado como arquivo.',
};

const UNKNOWN_FIELD: Text = {
  en: 'The field is not allowed.',
  pt: 'O campo não é permitido.',
};

const INVALID: Text = { en: 'The value is not valid.', pt: 'O valor não é válido.' };

const TYPES = new Map<string, Text>([
  ['string', { en: 'The value must be a text.', pt: 'O valor deve ser um texto.' }],
  ['number', { en: 'The value must be a number.', pt: 'O valor deve ser um número.' }],
  [
    'integer',
    { en: 'The value must be a whole number.', pt: 'O valor deve ser um número inteiro.' },
  ],
  ['boolean', { en: 'The value must be true or false.', pt: 'O valor deve ser true ou false.' }],
  ['array', { en: 'The value must be a list.', pt: 'O valor deve ser uma lista.' }],
  ['object', { en: 'The value must be an object.', pt: 'O valor deve ser um objeto.' }],
  ['null', { en: 'The value must be null.', pt: 'O valor deve ser nulo.' }],
]);

const OBJECT_OR_LIST: Text = {
  en: 'The value must be an object or a list.',
  pt: 'O valor deve ser um objeto ou uma lista.',
};

const FORMATS = new Map<string, Text>([
  ['email', NOT_AN_EMAIL],
  [
    'date',
    {
      en: 'The value must be a date such as 2026-05-24.',
      pt: 'O valor deve ser uma data como 2026-05-24.',
    },
  ],
  [
    'date-time',
    {
      en: 'The value must be a date and time such as 2026-05-24T15:30:00Z.',
      pt: 'O valor deve ser uma data e hora como 2026-05-24T15:30:00Z.',
    },
  ],
  ['uuid', { en: 'The value must be a UUID.', pt: 'O valor deve ser um UUID.' }],
  ['uri', { en: 'The value must be a web address.', pt: 'O valor deve ser um endereço web.' }],
]);

const MALFORMED: Text = {
  en: 'The value does not have the expected format.',
  pt: 'O valor não tem o formato esperado.',
};

const MAX_DECIMALS: Text = {
  en: 'The value must have at most two decimals.',
  pt: 'O valor deve ter no máximo duas casas decimais.',
};

const REPEATED_ITEMS: Text = {
  en: 'The list must not repeat an item.',
  pt: 'A lista não pode ter itens repetidos.',
};

/** The pattern of a text that must not be blank. */
const SOMETHING = String.raw`\S`;

const BY_KEYWORD = new Map<string, (params: Params) => Text>([
  ['required', () => REQUIRED],
  ['dependentRequired', () => REQUIRED],
  ['additionalProperties', () => UNKNOWN_FIELD],
  ['unevaluatedProperties', () => UNKNOWN_FIELD],
  ['type', typeText],
  ['enum', ({ allowedValues }) => oneOfText(allowedValues)],
  ['const', ({ allowedValue }) => oneOfText([allowedValue])],
  ['format', ({ format }) => FORMATS.get(String(format)) ?? MALFORMED],
  ['pattern', ({ pattern }) => (pattern === SOMETHING ? EMPTY : MALFORMED)],
  ['x-max-decimals', () => MAX_DECIMALS],
  // The format chooses the message: it may depend on the text.
  ['x-format', ({ error }) => error as Text],
  ['x-same-as', () => PASSWORDS_DIFFER],
  ['minLength', ({ limit }) => tooShort(Number(limit))],
  ['maxLength', ({ limit }) => tooLong(Number(limit))],
  ['minItems', ({ limit }) => countText('at least', 'no mínimo', Number(limit))],
  ['maxItems', ({ limit }) => countText('at most', 'no máximo', Number(limit))],
  ['uniqueItems', () => REPEATED_ITEMS],
  ['minimum', ({ limit }) => limitText('at least', 'no mínimo', limit)],
  ['maximum', ({ limit }) => limitText('at most', 'no máximo', limit)],
  ['exclusiveMinimum', ({ limit }) => limitText('more than', 'maior que', limit)],
  ['exclusiveMaximum', ({ limit }) => limitText('less than', 'menor que', limit)],
]);

/** Returns the message of an error. It contains the contract's limits, never the value. */
export function validationMessage({
  keyword,
  params,
}: Pick<ErrorObject, 'keyword' | 'params'>): Text {
  return BY_KEYWORD.get(keyword)?.(params) ?? INVALID;
}

function typeText({ type }: Params): Text {
  const types = [type].flat().filter((name) => name !== 'null');
  if (types.length === 0) return TYPES.get('null') ?? INVALID;
  const isObjectOrList = types.includes('object') && types.includes('array');
  if (types.length > 1) return isObjectOrList ? OBJECT_OR_LIST : INVALID;
  return TYPES.get(String(types[0])) ?? INVALID;
}

function oneOfText(allowed: unknown): Text {
  const list = [allowed].flat().map(String).join(', ');
  return { en: `The value must be one of ${list}.`, pt: `O valor deve ser um destes: ${list}.` };
}

function countText(en: string, pt: string, limit: number): Text {
  return {
    en: `The list must have ${en} ${limit} ${limit === 1 ? 'item' : 'items'}.`,
    pt: `A lista deve ter ${pt} ${limit} ${limit === 1 ? 'item' : 'itens'}.`,
  };
}

/** Portuguese writes the decimals after a comma. */
function limitText(en: string, pt: string, limit: unknown): Text {
  return {
    en: `The value must be ${en} ${String(limit)}.`,
    pt: `O valor deve ser ${pt} ${String(limit).replace('.', ',')}.`,
  };
}
