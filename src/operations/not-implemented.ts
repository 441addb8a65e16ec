import { AppError } from '../errors.ts';
import type { OperationId, PublicOperation } from './operation.ts';

/** An operation of the contract that this version does not carry out: it answers 501. */
export function notImplemented<Id extends OperationId>(): PublicOperation<Id> {
  return {
    access: 'public',
    async run() {
      throw new AppError('NOT_IMPLEMENTED');
    },
  };
}
