import { readAddress } from '../domain/person.ts';
import { AppError } from '../errors.ts';
import { submitStep } from './step-submission.ts';
import { admitApplicant } from './applicant.ts';
import { applicationReply } from './application-reply.ts';
import type { PublicOperation } from '../context/operation.ts';

/** Stores the address. */
export const submitAddress: PublicOperation<'submitAddress'> = {
  access: 'public',
  admit: admitApplicant,
  async run(context, { input, request }) {
    const address = readAddress(input.body);
    if (address.errors) throw new AppError('VALIDATION_FAILED', { fields: address.errors });
    const caller = { ...input.path, clientAddress: request.clientAddress };
    const application = await submitStep(context, caller, {
      name: 'address',
      content: { address: address.value },
    });
    return { status: 201, body: applicationReply(application) };
  },
};
