/**
 * The paths of somebody who asks for an account. All but their prefix is assumed, and they need no
 * token (contract/provider.md).
 */
import type { KycDecision, LivenessSession, RegisteredPerson } from '../provider.ts';
import type { DocumentMark } from '../stub/rows.ts';
import { BadRequest, type SandboxRequest } from './messages.ts';
import { RequestFields } from './request-fields.ts';
import { mapped, type Route } from './route.ts';

/** The steps on the way to an account. */
export const onboardingRoutes: readonly Route[] = [
  {
    method: 'POST',
    path: 'onboarding/pf',
    async serve({ onboarding }, { body }) {
      const fields = new RequestFields(body);
      const person = {
        name: fields.text('name'),
        email: fields.text('email'),
        document: fields.text('document'),
        phone: fields.text('phone'),
      };
      return mapped(onboarding.register(person), writePerson);
    },
  },
  {
    method: 'POST',
    path: 'onboarding/pf/{id}/endereco',
    async serve({ onboarding }, request) {
      const fields = new RequestFields(request.body);
      for (const name of addressFields) fields.text(name);
      fields.optionalText('complemento');
      return mapped(onboarding.submitAddress(personIn(request)), nothing);
    },
  },
  {
    method: 'POST',
    path: 'onboarding/pf/{id}/documentos',
    takes: 'form',
    async serve({ onboarding }, request) {
      const mark = readDocument(request.body);
      return mapped(onboarding.submitDocument(personIn(request), mark), nothing);
    },
  },
  {
    method: 'POST',
    path: 'onboarding/pf/{id}/proposta',
    async serve({ onboarding }, request) {
      const fields = new RequestFields(request.body);
      fields.text('tipo');
      fields.optionalText('observacoes');
      fields.optionalNumber('valor_solicitado');
      return mapped(onboarding.submitProposal(personIn(request)), nothing);
    },
  },
  {
    method: 'POST',
    path: 'onboarding/pf/{id}/validacao-eletronica',
    async serve({ onboarding }, request) {
      new RequestFields(request.body).integer('tipo');
      return mapped(onboarding.requestValidation(personIn(request)), nothing);
    },
  },
  {
    method: 'POST',
    path: 'onboarding/pf/{id}/validacao-eletronica/confirmar',
    async serve({ onboarding }, request) {
      const fields = new RequestFields(request.body);
      fields.integer('tipo');
      const code = fields.text('codigo');
      return mapped(onboarding.confirmValidation(personIn(request), code), nothing);
    },
  },
  {
    method: 'POST',
    path: 'onboarding/pf/{id}/prova-vida',
    serve: async ({ onboarding }, request) =>
      mapped(onboarding.startLivenessCheck(personIn(request)), writeLiveness),
  },
  {
    method: 'GET',
    path: 'onboarding/pf/{id}/kyc',
    serve: async ({ onboarding }, request) =>
      mapped(onboarding.kyc(personIn(request)), writeDecision),
  },
  {
    method: 'GET',
    path: 'onboarding/cep/{cep}',
    serve: async ({ onboarding }, { parameters }) => onboarding.lookUpCep(parameters['cep'] ?? ''),
  },
];

const addressFields = ['cep', 'logradouro', 'numero', 'bairro', 'cidade', 'estado'];

const contentTypes: ReadonlySet<string> = new Set(['application/pdf', 'image/jpeg', 'image/png']);

function personIn({ parameters }: SandboxRequest): string {
  return parameters['id'] ?? '';
}

function readDocument(body: unknown): DocumentMark {
  const fields = new RequestFields(body);
  const type = fields.text('tipo_documento');
  if (!/^(?:[1-9]|1\d|2[01])$/.test(type)) throw new BadRequest('tipo_documento is not 1 to 21');
  const file = fields.object('arquivo');
  if (!contentTypes.has(file.text('contentType'))) {
    throw new BadRequest('arquivo is neither PDF nor JPEG nor PNG', 415);
  }
  return {
    tipoDocumento: Number(type),
    sizeBytes: file.integer('sizeBytes'),
    sha256: file.text('sha256'),
  };
}

function writePerson(person: RegisteredPerson): unknown {
  return { pessoa_fisica_id: person.pessoaFisicaId, ...writeAccount(person) };
}

function writeDecision(decision: KycDecision): unknown {
  return { status: decision.status, ...writeAccount(decision) };
}

function writeAccount({ clientToken, agency, accountNumber }: Omit<KycDecision, 'status'>) {
  return { client_token: clientToken, agency, account_number: accountNumber };
}

function writeLiveness({ sessionId, urlIframe }: LivenessSession): unknown {
  return { session_id: sessionId, url_iframe: urlIframe };
}

/** Being done is all that there is to say. */
function nothing(): unknown {
  return {};
}
