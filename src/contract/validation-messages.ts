/** The messages of validation errors, by the JSON Schema keyword that found them. */
import { formatReais } from '../domain/money.ts';
import {
  fieldEmpty,
  notAnEmail,
  passwordsDiffer,
  fieldRequired,
  tooLong,
  tooShort,
} from '../domain/validation-errors.ts';
import type { Text } from '../errors.ts';
import type { ErrorObject } from './schemas.ts';

type Params = Readonly<Record<string, unknown>>;

export const repeatedParameter: Text = {
  en: 'The parameter must not be repeated.',
  pt: 'O parâmetro não pode ser repetido.',
};

export const unknownParameter: Text = {
  en: 'There is no such parameter.',
  pt: 'Este parâmetro não existe.',
};

const unknownField: Text = {
  en: 'The field is not allowed.',
  pt: 'Este campo não é aceito aqui.',
};

const paidAtOnce: Text = {
  en: 'A payment cannot be scheduled: it is made at once. Send it without this field.',
  pt: 'O pagamento não pode ser agendado: é feito na hora. Envie sem este campo.',
};

const invalid: Text = { en: 'The value is not valid.', pt: 'Este campo não é válido.' };

const typeMessages = new Map<string, Text>([
  ['string', { en: 'The value must be a text.', pt: 'Este campo deve ser um texto.' }],
  ['number', { en: 'The value must be a number.', pt: 'Este campo deve ser um número.' }],
  [
    'integer',
    { en: 'The value must be a whole number.', pt: 'Este campo deve ser um número inteiro.' },
  ],
  ['boolean', { en: 'The value must be true or false.', pt: 'Este campo deve ser true ou false.' }],
  ['array', { en: 'The value must be a list.', pt: 'Este campo deve ser uma lista.' }],
  ['object', { en: 'The value must be an object.', pt: 'Este campo deve ser um objeto.' }],
  ['null', { en: 'The value must be null.', pt: 'Este campo deve ser nulo.' }],
]);

const objectOrList: Text = {
  en: 'The value must be an object or a list.',
  pt: 'Este campo deve ser um objeto ou uma lista.',
};

const formats = new Map<string, Text>([
  ['email', notAnEmail],
  [
    'date',
    {
      en: 'The value must be a date such as 2026-05-24.',
      pt: 'Informe uma data como 2026-05-24.',
    },
  ],
  [
    'date-time',
    {
      en: 'The value must be a date and time such as 2026-05-24T15:30:00Z.',
      pt: 'Informe data e hora como 2026-05-24T15:30:00Z.',
    },
  ],
  ['uuid', { en: 'The value must be a UUID.', pt: 'Este campo deve ser um UUID.' }],
  [
    'uri',
    {
      en: 'The value must be a web address.',
      pt: 'Informe um endereço web, como https://exemplo.com.',
    },
  ],
]);

const malformedCode: Text = {
  en: 'The value does not have the expected format.',
  pt: 'Este campo não tem o formato esperado.',
};

const maxDecimals: Text = {
  en: 'The value must have at most two decimals.',
  pt: 'O valor deve ter no máximo duas casas decimais.',
};

const repeatedItems: Text = {
  en: 'The list must not repeat an item.',
  pt: 'A lista não pode ter itens repetidos.',
};

/** The pattern of a text that must not be blank. */
const something = String.raw`\S`;

const byKeyword = new Map<string, (params: Params) => Text>([
  ['required', () => fieldRequired],
  ['dependentRequired', () => fieldRequired],
  ['x-refused-schedule', () => paidAtOnce],
  ['additionalProperties', () => unknownField],
  ['unevaluatedProperties', () => unknownField],
  ['type', typeText],
  ['enum', ({ allowedValues }) => oneOfText(allowedValues)],
  ['const', ({ allowedValue }) => oneOfText([allowedValue])],
  ['format', ({ format }) => formats.get(String(format)) ?? malformedCode],
  ['pattern', ({ pattern }) => (pattern === something ? fieldEmpty : malformedCode)],
  ['x-max-decimals', () => maxDecimals],
  // The format chooses the message: it may depend on the text.
  ['x-format', ({ error }) => error as Text],
  ['x-same-as', () => passwordsDiffer],
  ['minLength', ({ limit }) => tooShort(Number(limit))],
  ['maxLength', ({ limit }) => tooLong(Number(limit))],
  ['minItems', ({ limit }) => countText('at least', 'no mínimo', Number(limit))],
  ['maxItems', ({ limit }) => countText('at most', 'no máximo', Number(limit))],
  ['uniqueItems', () => repeatedItems],
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
  return byKeyword.get(keyword)?.(params) ?? invalid;
}

function typeText({ type }: Params): Text {
  const types = [type].flat().filter((name) => name !== 'null');
  if (types.length === 0) return typeMessages.get('null') ?? invalid;
  const isObjectOrList = types.includes('object') && types.includes('array');
  if (types.length > 1) return isObjectOrList ? objectOrList : invalid;
  return typeMessages.get(String(types[0])) ?? invalid;
}

function oneOfText(allowed: unknown): Text {
  const list = [allowed].flat().map(String).join(', ');
  return { en: `The value must be one of ${list}.`, pt: `Escolha uma destas opções: ${list}.` };
}

function countText(en: string, pt: string, limit: number): Text {
  return {
    en: `The list must have ${en} ${limit} ${limit === 1 ? 'item' : 'items'}.`,
    pt: `A lista deve ter ${pt} ${limit} ${limit === 1 ? 'item' : 'itens'}.`,
  };
}

/** In the contract only amounts in reais have limits with decimals. */
function limitText(en: string, pt: string, limit: unknown): Text {
  const isAmount = !Number.isInteger(limit);
  const shown = (language: 'en-US' | 'pt-BR') =>
    isAmount ? formatReais(Number(limit), language) : String(limit);
  return {
    en: `The value must be ${en} ${shown('en-US')}.`,
    pt: `O valor deve ser ${pt} ${shown('pt-BR')}.`,
  };
}
