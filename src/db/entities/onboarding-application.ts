import { defineEntity, p } from '@mikro-orm/core';
import {
  applicationStatuses,
  kycStatuses,
  type ApplicationStatus,
  type ElectronicValidation,
  type KycStatus,
  type Proposal,
  type Step,
} from '../../domain/onboarding.ts';
import type { Address } from '../../domain/person.ts';
import { announcing, writesAppEvents } from './app-event.ts';
import { instant, isOneOf } from './columns.ts';
import { User } from './user.ts';

/** The event has the user's id, because the application's id is the applicant's secret. */
const announceOutcome = announcing({
  id: "'onboarding_' || new.user_id",
  type: "'onboarding.' || lower(new.status)",
  transactionId: 'null',
  operation: 'null',
  at: 'new.updated_at',
});

/** The opening of an account by one person, step by step. Its id is a secret of the applicant. */
export const OnboardingApplication = defineEntity({
  name: 'OnboardingApplication',
  tableName: 'onboarding_applications',
  properties: {
    id: p.uuid().primary(),
    user: () =>
      p.manyToOne(User).unique('onboarding_applications_user_unique').deleteRule('restrict'),
    personType: p.text(),
    status: p.text().$type<ApplicationStatus>(),
    kycStatus: p.text().$type<KycStatus>().nullable(),
    steps: p.json<readonly Step[]>(),
    address: p.json<Address>().nullable(),
    proposal: p.json<Proposal>().nullable(),
    /** The request of the electronic validation. */
    validation: p.json<ElectronicValidation>().nullable(),
    /** Wrong codes since the last correct one, or since the last lock; the lock-out counts them. */
    validationFailures: p.integer().default(0),
    validationLockedUntil: instant().nullable(),
    /** The code to confirm, sealed until the provider has it. */
    sealedCode: p.blob().$type<Buffer>().nullable(),
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
  triggers: [
    {
      // An application only moves forward, and a decision is final, for every writer.
      name: 'onboarding_applications_moves_forward',
      timing: 'before',
      events: ['update'],
      when: "old.status <> new.status and (old.status, new.status) not in (('IN_PROGRESS', 'UNDER_ANALYSIS'), ('UNDER_ANALYSIS', 'APPROVED'), ('UNDER_ANALYSIS', 'REJECTED'))",
      body: "raise exception 'an application does not move this way' using errcode = 'check_violation';",
    },
    {
      name: 'onboarding_applications_told',
      timing: 'after',
      events: ['update'],
      when: `old.status <> new.status and new.status in ('APPROVED', 'REJECTED') and ${writesAppEvents}`,
      body: `${announceOutcome} return null;`,
    },
  ],
  indexes: [
    {
      name: 'onboarding_applications_untouched',
      expression:
        'create index "onboarding_applications_untouched" on "onboarding_applications" ("updated_at") where "status" <> \'APPROVED\'',
    },
  ],
  checks: [
    {
      name: 'onboarding_applications_status_known',
      expression: isOneOf('status', applicationStatuses),
    },
    {
      name: 'onboarding_applications_kyc_known',
      expression: isOneOf('kyc_status', kycStatuses),
    },
    {
      name: 'onboarding_applications_person_type_known',
      expression: isOneOf('person_type', ['PF', 'PJ']),
    },
    {
      name: 'onboarding_applications_account_when_approved',
      expression: "not conta_bancaria_criada or status = 'APPROVED'",
    },
  ],
});
