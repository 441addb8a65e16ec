import { submitStep } from './steps.ts';
import { admitApplicant } from './applicant.ts';
import { applicationReply } from './application-reply.ts';
import type { PublicOperation } from '../http/operation.ts';

const message = { en: 'The proposal was queued.', pt: 'A proposta foi enfileirada.' };

/** Asks for the account. Without a body it is a current account. */
export const submitProposal: PublicOperation<'submitProposal'> = {
  access: 'public',
  admit: admitApplicant,
  async run(context, { input, request }) {
    const { tipo = 'CONTA_CORRENTE', observacoes, valor_solicitado: valor } = input.body ?? {};
    const proposal = {
      tipo,
      observacoes: observacoes ?? null,
      // JSON may write zero as -0, which is stored as 0: a repeat must be equal to what is stored.
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
