import { defineEntity, p } from '@mikro-orm/core';
import { instant, oneOf } from './columns.ts';
import { User } from './user.ts';

/** The opening of an account by one person, step by step. Its id is a secret of the applicant. */
export const OnboardingApplication = defineEntity({
  name: 'OnboardingApplication',
  tableName: 'onboarding_applications',
  properties: {
    id: p.uuid().primary(),
    user: () =>
      p.manyToOne(User).unique('onboarding_applications_user_unique').deleteRule('restrict'),
    personType: p.text(),
    status: p.text(),
    kycStatus: p.text().nullable(),
    steps: p.json(),
    address: p.json().nullable(),
    proposal: p.json().nullable(),
    pessoaFisicaId: p.text().nullable(),
    clientToken: p.text().nullable(),
    agency: p.text().nullable(),
    accountNumber: p.text().nullable(),
    provaVidaSessionId: p.text().nullable(),
    provaVidaUrl: p.text().nullable(),
    contaBancariaCriada: p.boolean().default(false),
    createdAt: instant(),
    updatedAt: instant(),
  },
  checks: [
    {
      name: 'onboarding_applications_status_known',
      expression: oneOf('status', ['IN_PROGRESS', 'UNDER_ANALYSIS', 'APPROVED', 'REJECTED']),
    },
    {
      name: 'onboarding_applications_kyc_known',
      expression: oneOf('kyc_status', ['PENDING', 'APPROVED', 'REJECTED']),
    },
    {
      name: 'onboarding_applications_person_type_known',
      expression: oneOf('person_type', ['PF', 'PJ']),
    },
  ],
});
