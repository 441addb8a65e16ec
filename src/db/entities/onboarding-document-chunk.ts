import { defineEntity, p } from '@mikro-orm/core';
import { OnboardingDocument } from './onboarding-document.ts';

/** A chunk of a document's content, sealed for this document and this position in it. */
export const OnboardingDocumentChunk = defineEntity({
  name: 'OnboardingDocumentChunk',
  tableName: 'onboarding_document_chunks',
  properties: {
    document: () => p.manyToOne(OnboardingDocument).primary().deleteRule('cascade'),
    /** From 0. */
    place: p.integer().primary(),
    sealedContent: p.blob(),
  },
});
