/** An application as the app sees it. */
import { maskEmail, maskName, maskNumber } from '../domain/masking.ts';
import { isFinal } from '../domain/onboarding.ts';
import type { Application } from './application-row.ts';

/**
 * An application as `OnboardingApplication` of the contract has it. The client token stays here:
 * the routes are public. Of a decided application the person is masked: its id is a secret that
 * has done its work, and may be lying about.
 */
export function applicationReply(application: Application) {
  return {
    id: application.id,
    user_id: application.applicant.id,
    person_type: application.personType,
    status: application.status,
    ...personReply(application),
    provider: {
      pessoa_fisica_id: application.pessoaFisicaId,
      client_token: null,
      agency: application.agency,
      account_number: application.accountNumber,
    },
    kyc_status: application.kycStatus,
    conta_bancaria_criada: application.contaBancariaCriada,
    steps: application.steps.map(({ name, status, attempts, updatedAt, error }) => {
      return { name, status, attempts, updated_at: updatedAt, error };
    }),
  };
}

function personReply(application: Application) {
  const { name, email, document, phone } = application.applicant;
  if (isFinal(application)) {
    return {
      name: maskName(name),
      email: maskEmail(email),
      document: maskNumber(document),
      phone: maskNumber(phone),
      prova_vida: { session_id: null, url_iframe: null },
    };
  }
  const { provaVidaSessionId, provaVidaUrl } = application;
  const provaVida = { session_id: provaVidaSessionId, url_iframe: provaVidaUrl };
  return { name, email, document, phone, prova_vida: provaVida };
}
