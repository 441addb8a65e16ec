import { AppError, invalidField } from '../../errors.ts';
import type { PublicOperation } from '../operation.ts';

/**
 * Registration of companies is reserved in the contract and not part of this version: a valid body
 * is answered with 501 and nothing is stored.
 */
export const registerPj: PublicOperation<'registerPj'> = {
  access: 'public',
  async run(_context, { input }) {
    const { password, password_confirmation: confirmation } = input.body;
    if (confirmation !== password) throw passwordsDiffer();
    throw new AppError('NOT_IMPLEMENTED');
  },
};

function passwordsDiffer(): AppError {
  return invalidField('password_confirmation', {
    en: 'Must be equal to the password.',
    pt: 'Deve ser igual à senha.',
  });
}
