/** Reads the provider's responses of the onboarding. */
import { stripAccents } from '../../domain/text.ts';
import { notUnderstood } from '../errors.ts';
import type { CepAddress, KycDecision, LivenessSession, RegisteredPerson } from '../provider.ts';
import { firstId, inner, readCode, valuesOf, type Fields } from '../wire-reading.ts';
import { readAccount } from './account-response.ts';
import { payloadPlaces, textAt } from './translate.ts';

/** Reads a registration. The id must be usable as a path segment of further requests. */
export function readPerson(json: unknown): RegisteredPerson {
  const places = payloadPlaces(json);
  const pessoaFisicaId = firstId(valuesOf(['pessoafisicaid', 'id'], places));
  if (pessoaFisicaId === null || /^\.{1,2}$|^$/.test(pessoaFisicaId)) {
    throw notUnderstood(new Error('a registration without an id'));
  }
  return { pessoaFisicaId, ...ownAccount(places) };
}

/** Longer URLs are refused. */
const maxUrlLength = 2_048;

/** Reads a liveness session. The app opens the URL, so it must be a web page. */
export function readLiveness(json: unknown): LivenessSession {
  const places = payloadPlaces(json);
  const text = textAt(places, ['urliframe', 'iframeurl', 'url']);
  const url = text === null ? null : URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.href.length > maxUrlLength) {
    throw notUnderstood(new Error('a liveness session without the address of a web page'));
  }
  return { sessionId: firstId(valuesOf(['sessionid'], places)), urlIframe: url.href };
}

/** The status words of a decision. An unlisted word is not a decision. */
const decisions: ReadonlyMap<string, KycDecision['status']> = new Map([
  ['PENDING', 'PENDING'],
  ['PENDENTE', 'PENDING'],
  ['PROCESSING', 'PENDING'],
  ['PROCESSANDO', 'PENDING'],
  ['IN_ANALYSIS', 'PENDING'],
  ['UNDER_ANALYSIS', 'PENDING'],
  ['EM_ANALISE', 'PENDING'],
  ['APPROVED', 'APPROVED'],
  ['APROVADO', 'APPROVED'],
  ['APROVADA', 'APPROVED'],
  ['REJECTED', 'REJECTED'],
  ['REJEITADO', 'REJECTED'],
  ['REJEITADA', 'REJECTED'],
  ['REPROVADO', 'REJECTED'],
  ['REPROVADA', 'REJECTED'],
  ['DENIED', 'REJECTED'],
  ['RECUSADO', 'REJECTED'],
  ['RECUSADA', 'REJECTED'],
]);

/**
 * Reads a decision. The most deeply nested status counts, because an outer one may describe the
 * request: `{status: "success", data: {status: "APPROVED"}}`.
 */
export function readKyc(json: unknown): KycDecision {
  const places = payloadPlaces(json);
  const deepestFirst = [...places.map((fields) => inner(fields, 'kyc')), ...places.toReversed()];
  const [word] = valuesOf(['kycstatus', 'status'], deepestFirst);
  const status = typeof word === 'string' ? decisions.get(plainWord(word)) : undefined;
  if (status === undefined) throw notUnderstood(new Error('a decision that cannot be read'));
  return { status, ...ownAccount(deepestFirst) };
}

/** Longer than any status word. */
const MAX_WORD_LENGTH = 64;

/** Normalises a status word: `Em análise` becomes `EM_ANALISE`. */
function plainWord(word: string): string {
  return stripAccents(word.slice(0, MAX_WORD_LENGTH))
    .trim()
    .toUpperCase()
    .replace(/[\s-]+/g, '_');
}

function ownAccount(places: readonly Fields[]) {
  const { clientToken, agency, accountNumber } = readAccount(places);
  return { clientToken, agency, accountNumber };
}

/** Reads the address of a CEP. @param cep the requested CEP, eight digits. */
export function readCep(json: unknown, cep: string): CepAddress {
  const places = payloadPlaces(json);
  const named = valuesOf(['cep'], places).map(readCode);
  if (named.some((other) => other !== cep)) throw notUnderstood(new Error('another postal code'));
  const address = {
    logradouro: lineAt(places, ['logradouro', 'rua', 'street']),
    bairro: lineAt(places, ['bairro', 'district']),
    cidade: lineAt(places, ['cidade', 'localidade', 'municipio', 'city']),
    estado: readState(places),
  };
  const isKnown = named.length > 0 || Object.values(address).some((part) => part !== null);
  if (!isKnown) throw notUnderstood(new Error('a postal code without an address'));
  return { cep, ...address };
}

function lineAt(places: readonly Fields[], names: readonly string[]): string | null {
  return textAt(places, names)?.trim() || null;
}

/** Reads the two-letter code; some providers put the full name into `estado`. */
function readState(places: readonly Fields[]): string | null {
  const values = valuesOf(['uf', 'estado', 'state'], places);
  const state = values.find((value) => typeof value === 'string' && /^[a-z]{2}$/i.test(value));
  return typeof state === 'string' ? state.toUpperCase() : null;
}
