import { defineEntity, p } from '@mikro-orm/core';
import { instant, oneOf } from './columns.ts';
import { OnboardingApplication } from './onboarding-application.ts';

/** An uploaded document, sealed; its content goes once the provider has it. */
export const OnboardingDocument = defineEntity({
  name: 'OnboardingDocument',
  tableName: 'onboarding_documents',
  properties: {
    id: p.uuid().primary(),
    application: () => p.manyToOne(OnboardingApplication).deleteRule('restrict'),
    tipoDocumento: p.integer(),
    contentType: p.text(),
    sizeBytes: p.integer(),
    /** SHA-256 of the content, to tell a repeat from another document. */
    contentHash: p.blob(),
    sealedContent: p.blob().nullable(),
    createdAt: instant(),
    forwardedAt: instant().nullable(),
  },
  uniques: [
    {
      name: 'onboarding_documents_content_unique',
      properties: ['application', 'tipoDocumento', 'contentHash'],
    },
  ],
  checks: [
    {
      name: 'onboarding_documents_type_known',
      expression: 'tipo_documento between 1 and 21',
    },
    {
      name: 'onboarding_documents_content_type_known',
      expression: oneOf('content_type', ['application/pdf', 'image/jpeg', 'image/png']),
    },
    {
      name: 'onboarding_documents_content_until_forwarded',
      expression: '(sealed_content is null) = (forwarded_at is not null)',
    },
  ],
});
