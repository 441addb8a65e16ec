import { findApplicant } from './applicant.ts';
import { applicationReply } from './application-reply.ts';
import { storeDocument } from './documents.ts';
import type { PublicOperation } from '../http/operation.ts';

/**
 * Stores one document, streamed into the database. The application is checked before the document
 * is read.
 */
export const submitDocument: PublicOperation<'submitDocument'> = {
  access: 'public',
  async run(context, { input, request }) {
    const { clientAddress } = request;
    const found = await findApplicant(context, { ...input.path, clientAddress });
    const sender = { application: found, clientAddress };
    const application = await storeDocument(context, sender, async (consume) => {
      const { fields, file } = await input.body.receive(consume);
      return { tipoDocumento: fields.tipo_documento, file };
    });
    return { status: 201, body: applicationReply(application) };
  },
};
