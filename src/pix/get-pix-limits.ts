import type { SessionOperation } from '../context/operation.ts';
import { findLimits } from '../ledger/spending-limit-repository.ts';
import { limitsReply } from './spending-limits.ts';

/** The limits that apply to the caller's sends, and what is left of them. */
export const getPixLimits: SessionOperation<'getPixLimits'> = {
  access: 'session',
  async run(context, { principal }) {
    const limits = await findLimits(context, principal.user.id);
    return { status: 200, body: limitsReply(limits, context.config, context.clock.now()) };
  },
};
