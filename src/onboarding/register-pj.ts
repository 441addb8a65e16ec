import { AppError } from '../errors.ts';
import type { PublicOperation } from '../context/operation.ts';

/**
 * The registration of companies is reserved in the contract and not implemented: a valid request
 * gets 501, and nothing is stored.
 */
export const registerPj: PublicOperation<'registerPj'> = {
  access: 'public',
  async run() {
    throw new AppError('NOT_IMPLEMENTED');
  },
};
