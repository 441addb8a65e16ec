/** `provider unknown`: the answers to payments that no listed code explains. */
import type { Op } from './op.ts';
import { findUnknownAnswers } from './unknown-repository.ts';

/** An answer, and the open payments that wait for its meaning. */
export interface UnknownAnswerView {
  readonly httpStatus: number | null;
  /** The class of the answer, such as `4xx` or `timeout`; null: no process knows it. */
  readonly providerStatus: string | null;
  readonly code: string | null;
  readonly payments: number;
  /** The creation of the oldest payment, an ISO 8601 text. */
  readonly oldestAt: string;
  /** The oldest payments, at most a hundred. */
  readonly transactionIds: readonly string[];
}

export interface ProviderUnknown {
  readonly answers: readonly UnknownAnswerView[];
}

/** More would not fit on a screen; a provider has few answers. */
const maxAnswers = 200;

const maxIds = 100;

/** Lists the answers without a listed code, those with the most open payments first. */
export const listUnknown: Op<Readonly<Record<string, never>>, ProviderUnknown> = {
  needsDialects: true,
  async run(context) {
    const found = await findUnknownAnswers(context, { shown: maxIds, limit: maxAnswers });
    return {
      answers: found.map((answer) => {
        const { httpStatus, providerStatus, code, payments, oldestAt, transactionIds } = answer;
        const oldest = oldestAt.toISOString();
        return { httpStatus, providerStatus, code, payments, oldestAt: oldest, transactionIds };
      }),
    };
  },
};
