/**
 * The onboarding over the provider's HTTP API. Everything except the prefix of the paths is an
 * assumption (contract/provider.md): the fields have the names of Ponte's own contract.
 */
import type {
  AccountProposal,
  NewPerson,
  PersonAddress,
  PersonRequest,
  ProviderOnboarding,
} from '../provider.ts';
import { documentForm } from './document-form.ts';
import { readCep, readKyc, readLiveness, readPerson } from './onboarding-responses.ts';
import type { SendRequest, WireRequest } from './request.ts';

const base = '/core/v2/onboarding';

/** Creates the onboarding calls of the port, which need no token. */
export function createHttpOnboarding(send: SendRequest): ProviderOnboarding {
  return {
    registerPerson: async (request) =>
      readPerson(await send(post('/pf', personBody(request)), request)),
    submitAddress: async (request) => {
      const path = `${personPath(request)}/endereco`;
      await send(post(path, addressBody(request.address)), request);
    },
    submitDocument: async (request) => {
      const upload = documentForm(request.document);
      await send({ ...post(`${personPath(request)}/documentos`), upload }, request);
    },
    submitProposal: async (request) => {
      const path = `${personPath(request)}/proposta`;
      await send(post(path, proposalBody(request.proposal)), request);
    },
    requestValidation: async (request) => {
      const { tipo } = request;
      await send(post(`${personPath(request)}/validacao-eletronica`, { tipo }), request);
    },
    confirmValidation: async (request) => {
      const { codigo, tipo } = request;
      const path = `${personPath(request)}/validacao-eletronica/confirmar`;
      await send({ ...post(path, { codigo, tipo }), kind: 'code' }, request);
    },
    startLivenessCheck: async (request) =>
      readLiveness(await send(post(`${personPath(request)}/prova-vida`), request)),
    kyc: async (request) => readKyc(await send(get(`${personPath(request)}/kyc`), request)),
    lookUpCep: async (request) => {
      const { cep } = request;
      return readCep(await send(get(`/cep/${encodeURIComponent(cep)}`), request), cep);
    },
  };
}

function get(path: string): WireRequest {
  return { method: 'GET', path: base + path, kind: 'onboarding' };
}

function post(path: string, body?: unknown): WireRequest {
  return { method: 'POST', path: base + path, body, kind: 'onboarding' };
}

function personPath({ personId }: PersonRequest): string {
  return `/pf/${encodeURIComponent(personId)}`;
}

function personBody({ name, email, document, phone }: NewPerson): unknown {
  return { name, email, document, phone };
}

function addressBody(address: PersonAddress): unknown {
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

function proposalBody({ tipo, observacoes, valorSolicitado }: AccountProposal): unknown {
  return {
    tipo,
    ...(observacoes !== null && { observacoes }),
    ...(valorSolicitado !== null && { valor_solicitado: valorSolicitado }),
  };
}
