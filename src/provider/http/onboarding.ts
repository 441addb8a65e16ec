/**
 * The onboarding over the provider's HTTP API. Everything except the prefix of the paths is an
 * assumption (contract/provider.md): the fields have the names of Ponte's own contract.
 */
import { randomUUID } from 'node:crypto';
import type * as wire from '../../../contract/provider-types.ts';
import type { Proposal } from '../../domain/onboarding.ts';
import type { Address } from '../../domain/person.ts';
import { stripAccents } from '../../domain/text.ts';
import { notUnderstood } from '../errors.ts';
import type {
  CepAddress,
  KycDecision,
  LivenessSession,
  NewPerson,
  PersonDocument,
  PersonRequest,
  ProviderOnboarding,
  RegisteredPerson,
} from '../provider.ts';
import { type Fields, firstId, readInner, readCode, findValues } from '../wire-reading.ts';
import type { Upload } from './client.ts';
import { readAccount } from './login.ts';
import type { SendRequest } from './request.ts';
import { payloadPlaces, textAt, upTo } from './translate.ts';

const kind = 'onboarding';

/** Creates the onboarding calls of the port, which need no token. */
export function createHttpOnboarding(send: SendRequest): ProviderOnboarding {
  return {
    registerPerson: async (request) =>
      readPerson(await send('registerPerson', { body: personBody(request), kind }, request)),
    submitAddress: async (request) => {
      const body = addressBody(request.address);
      await send('submitAddress', { path: personPath(request), body, kind }, request);
    },
    submitDocument: async (request) => {
      const upload = documentForm(request.document);
      await send('submitDocument', { path: personPath(request), upload, kind }, request);
    },
    submitProposal: async (request) => {
      const body = proposalBody(request.proposal);
      await send('submitProposal', { path: personPath(request), body, kind }, request);
    },
    requestValidation: async (request) => {
      const body = { tipo: request.tipo };
      await send('requestValidation', { path: personPath(request), body, kind }, request);
    },
    confirmValidation: async (request) => {
      const body = { codigo: request.codigo, tipo: request.tipo };
      const input = { path: personPath(request), body, kind: 'code' } as const;
      await send('confirmValidation', input, request);
    },
    startLivenessCheck: async (request) =>
      readLiveness(await send('startLivenessCheck', { path: personPath(request), kind }, request)),
    kyc: async (request) =>
      readKyc(await send('kyc', { path: personPath(request), kind }, request)),
    lookUpCep: async (request) => {
      const { cep } = request;
      return readCep(await send('lookUpCep', { path: { cep }, kind }, request), cep);
    },
  };
}

function personPath({ personId }: PersonRequest) {
  return { id: personId };
}

function personBody({ name, email, document, phone }: NewPerson): wire.NewPerson {
  return { name, email, document, phone };
}

function addressBody(address: Address): wire.Address {
  const { cep, logradouro, numero, complemento, bairro, cidade, estado } = address;
  return {
    cep,
    logradouro,
    numero,
    ...(complemento !== null && { complemento }),
    bairro,
    cidade,
    estado,
  };
}

function proposalBody({ tipo, observacoes, valorSolicitado }: Proposal): wire.Proposal {
  return {
    tipo,
    ...(observacoes !== null && { observacoes }),
    ...(valorSolicitado !== null && { valor_solicitado: valorSolicitado }),
  };
}

/** Reads a registration. The id must be usable as a path segment of further requests. */
function readPerson(json: unknown): RegisteredPerson {
  const places = payloadPlaces(json);
  const pessoaFisicaId = firstId(findValues(['pessoafisicaid', 'id'], places));
  if (pessoaFisicaId === null || /^\.{1,2}$|^$/.test(pessoaFisicaId)) {
    throw notUnderstood(new Error('a registration without an id'));
  }
  return { pessoaFisicaId, ...ownAccount(places) };
}

/** Longer URLs are refused. */
const maxUrlLength = 2_048;

/**
 * Reads a liveness session. The app opens the URL and films the person: it must be a secure page.
 */
function readLiveness(json: unknown): LivenessSession {
  const places = payloadPlaces(json);
  const text = textAt(places, ['urliframe', 'iframeurl', 'url']);
  const url = text === null ? null : URL.parse(text);
  if (url === null || url.protocol !== 'https:' || url.href.length > maxUrlLength) {
    throw notUnderstood(new Error('a liveness session without the address of a secure web page'));
  }
  return { sessionId: firstId(findValues(['sessionid'], places)), urlIframe: url.href };
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
function readKyc(json: unknown): KycDecision {
  const places = payloadPlaces(json);
  const deepestFirst = [
    ...places.flatMap((fields) => readInner(fields, 'kyc')),
    ...places.toReversed(),
  ];
  const [word] = findValues(['kycstatus', 'status'], deepestFirst);
  const status = typeof word === 'string' ? decisions.get(plainWord(word)) : undefined;
  if (status === undefined) throw notUnderstood(new Error('a decision that cannot be read'));
  return { status, ...ownAccount(deepestFirst) };
}

/** Longer than any status word. */
const maxWordLength = 64;

/** Normalises a status word: `Em análise` becomes `EM_ANALISE`. */
function plainWord(word: string): string {
  return stripAccents(word.slice(0, maxWordLength))
    .trim()
    .toUpperCase()
    .replace(/[\s-]+/g, '_');
}

function ownAccount(places: readonly Fields[]) {
  const { clientToken, agency, accountNumber } = readAccount(places);
  return { clientToken, agency, accountNumber };
}

/** Reads the address of a CEP. @param cep the requested CEP, eight digits. */
function readCep(json: unknown, cep: string): CepAddress {
  const places = payloadPlaces(json);
  const named = findValues(['cep'], places).map(readCode);
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

/** The longest line of an address; longer texts are ignored. */
const maxLineLength = 200;

function lineAt(places: readonly Fields[], names: readonly string[]): string | null {
  return upTo(maxLineLength, textAt(places, names)?.trim() || null);
}

/** Reads the two-letter code; some providers put the full name into `estado`. */
function readState(places: readonly Fields[]): string | null {
  const values = findValues(['uf', 'estado', 'state'], places);
  const state = values.find((value) => typeof value === 'string' && /^[a-z]{2}$/i.test(value));
  return typeof state === 'string' ? state.toUpperCase() : null;
}

/** Fixed names, because the person's file name may be personal data. */
const fileNames: Readonly<Record<PersonDocument['contentType'], string>> = {
  'application/pdf': 'documento.pdf',
  'image/jpeg': 'documento.jpg',
  'image/png': 'documento.png',
};

/**
 * Creates the form of a document, whose content is opened when it is read. It is encoded here,
 * because `FormData` takes no stream: the content comes from the database in chunks. The console,
 * which imports only the contract, encodes its form of a file itself.
 */
function documentForm(document: PersonDocument): Upload {
  const { tipoDocumento, contentType, sizeBytes } = document;
  // Random, so that no document can contain it.
  const boundary = `ponte-${randomUUID()}`;
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="tipo_documento"\r\n\r\n` +
      `${tipoDocumento}\r\n` +
      `--${boundary}\r\nContent-Disposition: form-data; name="arquivo"; ` +
      `filename="${fileNames[contentType]}"\r\nContent-Type: ${contentType}\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  async function* parts(): AsyncGenerator<Uint8Array> {
    yield head;
    yield* document.content();
    yield tail;
  }
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    sizeBytes: head.length + sizeBytes + tail.length,
    content: parts(),
  };
}
