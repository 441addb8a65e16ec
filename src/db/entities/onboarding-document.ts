import { defineEntity, p } from '@mikro-orm/core';
import { instant, isOneOf } from './columns.ts';
import { OnboardingApplication } from './onboarding-application.ts';

/**
 * An uploaded document. Its content is stored as sealed chunks while it arrives. The document
 * counts only when all chunks are stored; they are deleted when the provider has the document.
 */
export const OnboardingDocument = defineEntity({
  name: 'OnboardingDocument',
  tableName: 'onboarding_documents',
  properties: {
    id: p.uuid().primary(),
    application: () => p.manyToOne(OnboardingApplication).deleteRule('restrict'),
    status: p.text(),
    /** Known when the whole form has been read, like the columns below. */
    tipoDocumento: p.integer().nullable(),
    contentType: p.text().nullable(),
    sizeBytes: p.integer().nullable(),
    chunkCount: p.integer().nullable(),
    /** SHA-256 of the content, to distinguish a repeat from another document. */
    contentHash: p.blob().nullable(),
    createdAt: instant(),
    storedAt: instant().nullable(),
    forwardedAt: instant().nullable(),
  },
  indexes: [
    {
      name: 'onboarding_documents_content_once',
      expression:
        'create unique index "onboarding_documents_content_once" on "onboarding_documents" ("application_id", "tipo_documento", "content_hash") where "status" <> \'receiving\'',
    },
    {
      name: 'onboarding_documents_receiving',
      expression:
        'create index "onboarding_documents_receiving" on "onboarding_documents" ("created_at") where "status" = \'receiving\'',
    },
  ],
  checks: [
    {
      name: 'onboarding_documents_status_known',
      expression: isOneOf('status', ['receiving', 'stored', 'forwarded']),
    },
    {
      name: 'onboarding_documents_type_known',
      expression: 'tipo_documento between 1 and 21',
    },
    {
      name: 'onboarding_documents_content_type_known',
      expression: isOneOf('content_type', ['application/pdf', 'image/jpeg', 'image/png']),
    },
    {
      name: 'onboarding_documents_stored_whole',
      expression:
        "(status = 'receiving') or (tipo_documento is not null and content_type is not null and size_bytes is not null and chunk_count is not null and content_hash is not null and stored_at is not null)",
    },
    {
      name: 'onboarding_documents_forwarded_dated',
      expression: "(status = 'forwarded') = (forwarded_at is not null)",
    },
  ],
});
