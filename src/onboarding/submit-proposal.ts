import { submitStep } from './step-submission.ts';
import { admitApplicant } from './applicant.ts';
import { applicationReply } from './application-reply.ts';
import type { PublicOperation } from '../context/operation.ts';

const message = { en: 'The proposal was received.', pt: 'A proposta foi recebida.' };

/** Requests an account, a current account by default. */
export const submitProposal: PublicOperation<'submitProposal'> = {
  access: 'public',
  admit: admitApplicant,
  async run(context, { input, request }) {
    const { tipo = 'CONTA_CORRENTE', observacoes, valor_solicitado: valor } = input.body ?? {};
    const proposal = {
      tipo,
      observacoes: observacoes ?? null,
      // Turns -0 of JSON into 0, as it is stored: a repeat must equal the stored value.
      valorSolicitado: valor === undefined ? null : valor + 0,
    };
    const caller = { ...input.path, clientAddress: request.clientAddress };
    const application = await submitStep(context, caller, {
      name: 'proposal',
      content: { proposal },
    });
    return {
      status: 202,
      body: { message: message[request.locale], application: applicationReply(application) },
    };
  },
};
