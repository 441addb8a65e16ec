import { findApplicant } from './applicant.ts';
import { applicationReply } from './application-reply.ts';
import { takeDocument } from './documents.ts';
import type { PublicOperation } from '../http/operation.ts';

/**
 * Takes one document in, streamed into the database while it comes. The application is looked at
 * before a byte of it is read.
 */
export const submitDocument: PublicOperation<'submitDocument'> = {
  access: 'public',
  async run(context, { input, request }) {
    const { clientAddress } = request;
    const found = await findApplicant(context, { ...input.path, clientAddress });
    const sender = { application: found, clientAddress };
    const application = await takeDocument(context, sender, async (take) => {
      const { fields, taken } = await input.body.receive(take);
      return { tipoDocumento: fields.tipo_documento, taken };
    });
    return { status: 201, body: applicationReply(application) };
  },
};
