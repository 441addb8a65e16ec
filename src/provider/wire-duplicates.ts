/**
 * Detects failures that report an existing payment. The ids of a payment are unique, so the
 * existing one is this payment, requested twice: the failure does not prove that it was not made.
 * It applies to responses and events.
 */
import { normalised } from '../domain/text.ts';
import { isObject, findValues, type Fields } from './wire-reading.ts';

/** The names of fields with the cause of a failure, at any depth. */
const failureNames = [
  'code',
  'errorcode',
  'reasoncode',
  'reason',
  'motivo',
  'statuscode',
  'error',
  'errors',
  'erro',
  'erros',
  'errormessage',
  'errordescription',
  'title',
  'detail',
  'details',
  'message',
  'messages',
  'mensagem',
  'mensagens',
  'statusdescription',
];

/** In a failure they contain its cause, in a payment often the payer's own text. */
const descriptionNames = ['description', 'descricao', 'descrição'];

/** Bounds for the search. */
const longestText = 1_000;
const mostTexts = 100;
const deepest = 4;

/** ISO 20022's codes for duplicates, and those of providers of this family. */
const duplicateCodes = 'am05|du0[1-5]|dupl|pbe300';

const done = [
  'exist',
  'process',
  'us',
  'paid',
  'sent',
  'execut',
  'complet',
  'regist',
  'taken',
  'submit',
  'receiv',
  'creat',
  'made',
  'settl',
  'confirm',
  'perform',
  'been',
  'done',
  'accept',
  'utiliz',
  'pag',
  'envi',
  'efetu',
  'efetiv',
  'realiz',
  'cadastr',
  'receb',
  'conclu',
  'finaliz',
  'liquid',
  'transmit',
  'consta',
  'inclu',
  'aprov',
  'em uso',
  'transfer',
].join('|');

/** Searched in plain text: lower case, no accents, words separated by one space. */
const duplicateWords = new RegExp(
  [
    String.raw`\b(?:${duplicateCodes})\b`,
    'duplic|idempot|repetid|repeated|reutiliz|reused',
    String.raw`(?:already|\bja) ?(?:\w+ ){0,3}?(?:${done})`,
    String.raw`\b(?:em uso|in use)\b`,
    'must be unique|not unique|unique (?:constraint|violation)|deve ser unic|nao e unic',
    '(?:utiliz|us|process|envi)ad[oa]s? anteriormente|anteriormente (?:utiliz|us|process|envi)ad',
    'previously (?:used|processed|sent|submitted|executed|paid)',
    String.raw`\b(?:transacao|pagamento|ordem|operacao|requisicao|registro|id) existente`,
    String.raw`\b(?:payment|transaction|order|request|id) exists`,
  ].join('|'),
);

/** Not a proof beside an ISO code: something else may already be reached or closed. */
const doubtfulWord = 'already';

/** Reason codes of ISO 20022, such as `AC07` or `DS0G`. */
const isoCode = /^(?:[A-Z]{2}\d[0-9A-Z]|FRAD)$/;

export interface FailureOptions {
  /** Whether the objects describe only the failure, as in the body of a refusal. */
  readonly describesFailure?: boolean;
}

/**
 * Whether a failure reports that the payment already exists.
 *
 * @param objects the provider's data of the payment or of the failure.
 */
export function reportsDuplicate(
  objects: readonly Fields[],
  { describesFailure = false }: FailureOptions = {},
): boolean {
  const texts = textsUnder(failureNames, objects);
  const isExplained = texts.some((text) => isoCode.test(text.trim()));
  const hasSentence = texts.some((text) => /\s/.test(text.trim()));
  const isDescriptionRead = describesFailure || !(isExplained || hasSentence);
  const descriptions = isDescriptionRead ? textsUnder(descriptionNames, objects) : [];
  return [...texts, ...descriptions]
    .map(plainText)
    .some((text) => duplicateWords.test(text) || (!isExplained && text.includes(doubtfulWord)));
}

function textsUnder(names: readonly string[], objects: readonly Fields[]): string[] {
  const texts: string[] = [];
  for (const value of findValues(names, objects)) collect(value, texts, deepest);
  return texts;
}

function collect(value: unknown, texts: string[], depth: number): void {
  if (texts.length >= mostTexts) return;
  if (typeof value === 'string') texts.push(value.slice(0, longestText));
  else if (depth > 0 && (Array.isArray(value) || isObject(value))) {
    for (const part of Object.values(value)) collect(part, texts, depth - 1);
  }
}

/** `JáExiste` and `JA_EXISTE` become `ja existe`. */
function plainText(text: string): string {
  return normalised(text, 'NFD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, ' ');
}
