/**
 * The opening of an account over the provider's HTTP API. All of it but the prefix of the paths is
 * assumed (contract/provider.md): the fields are named as our own contract names them.
 */
import type { AccountProposal, NewPerson, PersonAddress, ProviderOnboarding } from '../provider.ts';
import type { Ask, Request } from './asking.ts';
import { documentForm } from './document-form.ts';
import { readCep, readKyc, readLiveness, readPerson } from './onboarding-answers.ts';

const base = '/core/v2/onboarding';

/** Makes the onboarding's part of the port; none of its calls carries a token. */
export function createHttpOnboarding(ask: Ask): ProviderOnboarding {
  return {
    registerPerson: async (person, options) =>
      readPerson(await ask('onboarding', post('/pf', personBody(person)), options)),
    submitAddress: async (id, address, options) => {
      await ask('onboarding', post(`${personPath(id)}/endereco`, addressBody(address)), options);
    },
    submitDocument: async (id, document, options) => {
      const upload = documentForm(document);
      await ask('onboarding', { ...post(`${personPath(id)}/documentos`), upload }, options);
    },
    submitProposal: async (id, proposal, options) => {
      await ask('onboarding', post(`${personPath(id)}/proposta`, proposalBody(proposal)), options);
    },
    requestValidation: async (id, tipo, options) => {
      await ask('onboarding', post(`${personPath(id)}/validacao-eletronica`, { tipo }), options);
    },
    confirmValidation: async (id, { codigo, tipo }, options) => {
      const path = `${personPath(id)}/validacao-eletronica/confirmar`;
      await ask('code', post(path, { codigo, tipo }), options);
    },
    startLivenessCheck: async (id, options) =>
      readLiveness(await ask('onboarding', post(`${personPath(id)}/prova-vida`), options)),
    kyc: async (id, options) =>
      readKyc(await ask('onboarding', get(`${personPath(id)}/kyc`), options)),
    lookUpCep: async (cep, options) =>
      readCep(await ask('onboarding', get(`/cep/${encodeURIComponent(cep)}`), options), cep),
  };
}

function get(path: string): Request {
  return { method: 'GET', path: base + path };
}

function post(path: string, body?: unknown): Request {
  return { method: 'POST', path: base + path, body };
}

function personPath(id: string): string {
  return `/pf/${encodeURIComponent(id)}`;
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
