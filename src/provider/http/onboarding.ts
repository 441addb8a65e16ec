/**
 * The onboarding over the provider's HTTP API. Everything except the prefix of the paths is an
 * assumption (contract/provider.md): the fields have the names of Ponte's own contract.
 */
import type { Address, NewPerson as Person, Proposal } from '../../../contract/provider-types.ts';
import type {
  AccountProposal,
  NewPerson,
  PersonAddress,
  PersonRequest,
  ProviderOnboarding,
} from '../provider.ts';
import { documentForm } from './document-form.ts';
import { readCep, readKyc, readLiveness, readPerson } from './onboarding-responses.ts';
import type { SendRequest } from './request.ts';

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

function personBody({ name, email, document, phone }: NewPerson): Person {
  return { name, email, document, phone };
}

function addressBody(address: PersonAddress): Address {
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

function proposalBody({ tipo, observacoes, valorSolicitado }: AccountProposal): Proposal {
  return {
    tipo,
    ...(observacoes !== null && { observacoes }),
    ...(valorSolicitado !== null && { valor_solicitado: valorSolicitado }),
  };
}
