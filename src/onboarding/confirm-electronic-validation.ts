import type { Context } from '../context.ts';
import { REQUIRED } from '../domain/validation-errors.ts';
import { invalidField } from '../errors.ts';
import { submitCode } from './codes.ts';
import { homologationCode } from './sealed-code.ts';
import { admitApplicant } from './applicant.ts';
import { applicationReply } from './application-reply.ts';
import type { PublicOperation } from '../http/operation.ts';

const message = { en: 'The confirmation was queued.', pt: 'A confirmação foi enfileirada.' };

/** Submits the code that the person received. Outside production it is optional. */
export const confirmElectronicValidation: PublicOperation<'confirmElectronicValidation'> = {
  access: 'public',
  admit: admitApplicant,
  async run(context, { input, request }) {
    const { codigo = defaultCode(context), tipo = 1 } = input.body ?? {};
    const caller = { ...input.path, clientAddress: request.clientAddress };
    const application = await submitCode(context, caller, { codigo, tipo });
    return {
      status: 202,
      body: { message: message[request.locale], application: applicationReply(application) },
    };
  },
};

function defaultCode({ config }: Context): string {
  if (config.appEnv === 'production') throw invalidField('codigo', REQUIRED);
  return homologationCode;
}
