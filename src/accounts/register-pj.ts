import { AppError } from '../errors.ts';
import type { PublicOperation } from '../http/operation.ts';

/**
 * Registration of companies is reserved in the contract and not part of this version: a body that
 * the contract accepts is answered with 501 and nothing is stored.
 */
export const registerPj: PublicOperation<'registerPj'> = {
  access: 'public',
  async run() {
    throw new AppError('NOT_IMPLEMENTED');
  },
};
