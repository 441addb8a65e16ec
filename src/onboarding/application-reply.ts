/** The reply of an application. */
import { maskName } from '../domain/text.ts';
import { isFinal } from '../domain/onboarding.ts';
import type { Application } from './application-row.ts';

/**
 * Converts an application to the contract's `OnboardingApplication`. The client token is omitted
 * because the routes are public. The person of a decided application is masked: its id is no longer
 * needed and may no longer be kept secret.
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

const shownAtEnd = 2;

/** Shows the first letter and the domain: `a***@example.com`. */
function maskEmail(email: string): string {
  const [local = '', domain = ''] = email.split('@');
  return `${local.slice(0, 1)}***@${domain}`;
}

/** Shows the last two digits of a document or a phone. */
function maskNumber(digits: string): string {
  return '*'.repeat(Math.max(0, digits.length - shownAtEnd)) + digits.slice(-shownAtEnd);
}
