/** `provider unknown`: the responses to payments that no listed code explains. */
import type { Op } from './op.ts';
import { findUnknownResponses } from './unknown-repository.ts';

/** A response, and the open payments that wait for its meaning. */
export interface UnknownResponseView {
  readonly httpStatus: number | null;
  /** The class of the response, such as `4xx` or `timeout`; null: no process knows it. */
  readonly providerStatus: string | null;
  readonly code: string | null;
  readonly payments: number;
  /** The creation of the oldest payment, an ISO 8601 text. */
  readonly oldestAt: string;
  /** The oldest payments, at most a hundred. */
  readonly transactionIds: readonly string[];
}

export interface ProviderUnknown {
  readonly answers: readonly UnknownResponseView[];
}

/** More would not fit on a screen; a provider has few responses. */
const maxResponses = 200;

const maxIds = 100;

/** Lists the responses without a listed code, those with the most open payments first. */
export const listUnknown: Op<Readonly<Record<string, never>>, ProviderUnknown> = {
  needsDialects: true,
  async run(context) {
    const found = await findUnknownResponses(context, { shown: maxIds, limit: maxResponses });
    return {
      answers: found.map((response) => {
        const { httpStatus, providerStatus, code, payments, oldestAt, transactionIds } = response;
        const oldest = oldestAt.toISOString();
        return { httpStatus, providerStatus, code, payments, oldestAt: oldest, transactionIds };
      }),
    };
  },
};
