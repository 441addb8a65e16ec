import { AppError } from '../errors.ts';
import type { PublicOperation } from '../context/operation.ts';

/**
 * The registration of companies is reserved in the contract and not implemented: every request gets
 * 501 before its body is read, and nothing is stored.
 */
export const registerPj: PublicOperation<'registerPj'> = {
  access: 'public',
  admit: refuse,
  run: refuse,
};

async function refuse(): Promise<never> {
  throw new AppError('NOT_IMPLEMENTED');
}
