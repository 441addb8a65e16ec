/** The control path: what the provider would never show, for whoever tests against the sandbox. */
import type { Bank } from '../stub/bank.ts';
import type { Calls } from './calls.ts';
import { type Effect, FaultSyntaxError, parseFaults } from './fault-language.ts';
import type { FaultPlan } from './fault-plan.ts';
import { faultHints } from './hints.ts';
import type { LedgerView } from './ledger.ts';
import { answerOf, BadRequest, problem, type SandboxAnswer } from './messages.ts';
import { RequestFields } from './request-fields.ts';
import { routePaths } from './routes.ts';

/** What the control path works on. */
export interface Controlled {
  readonly bank: Bank;
  readonly calls: Calls;
  readonly plan: FaultPlan;
  /** The ledger as it stands now. */
  readonly ledger: () => LedgerView;
}

interface ControlRequest {
  readonly method: string;
  /** From `/sandbox` on, without a query. */
  readonly path: string;
  readonly body: unknown;
}

interface Work {
  /** The body that it takes, as an example of it; without one, it takes none. */
  readonly takes?: Readonly<Record<string, string>>;
  work(controlled: Controlled, body: unknown): SandboxAnswer | Promise<SandboxAnswer>;
}

const works: Readonly<Record<string, Work>> = {
  'GET /sandbox': { work: () => ok({ control: offered(), faults: faultHints() }) },
  'GET /sandbox/ledger': { work: ({ ledger }) => ok(ledger()) },
  'GET /sandbox/calls': { work: ({ calls }) => ok({ calls: calls.list() }) },
  'DELETE /sandbox/calls': {
    work({ calls }) {
      calls.clear();
      return ok({ calls: [] });
    },
  },
  'GET /sandbox/faults': { work: ({ plan }) => ok(queued(plan)) },
  'POST /sandbox/faults': {
    takes: { faults: 'payments:5xx-after#2, keys/dict:latency=2s' },
    work({ plan }, body) {
      plan.enqueue(readFaults(new RequestFields(body).text('faults')));
      return ok(queued(plan));
    },
  },
  'DELETE /sandbox/faults': {
    work({ plan }) {
      plan.clearQueue();
      return ok(queued(plan));
    },
  },
  'POST /sandbox/expire-tokens': {
    takes: { email: 'dev@ponte.test' },
    work({ bank }, body) {
      const email = new RequestFields(body).text('email');
      bank.expireTokensOf(email);
      return ok({ email });
    },
  },
  'POST /sandbox/settle': {
    takes: {
      endToEnd: 'of one payment; without it, all that are under way',
      outcome: 'COMPLETED or FAILED; without it, what the key provides for',
    },
    work: settle,
  },
};

const payCharge = 'POST /sandbox/charges/{transactionIdentification}/pay';

/** What can be asked for, each with the body that it takes. */
function offered(): unknown {
  const listed = Object.entries(works).map(([call, { takes }]) => ({ call, body: takes ?? null }));
  return [...listed, { call: payCharge, body: null }];
}

const payChargePath = /^\/sandbox\/charges\/([A-Za-z0-9]{1,35})\/pay$/;

/**
 * Does what is asked.
 *
 * @throws BadRequest when the body has another form.
 */
export async function control(
  controlled: Controlled,
  { method, path, body }: ControlRequest,
): Promise<SandboxAnswer> {
  const [, charge] = payChargePath.exec(path) ?? [];
  if (charge !== undefined && method === 'POST') {
    const answer = answerOf(await controlled.bank.payCharge(charge));
    return answer === 'hang' ? problem(500) : answer;
  }
  const name = `${method} ${path}`;
  const found = Object.hasOwn(works, name) ? works[name] : undefined;
  return found?.work(controlled, body) ?? problem(404, { detail: 'see GET /sandbox' });
}

/** Reads rules for the next calls. @throws BadRequest. */
export function readFaults(text: string): ReturnType<typeof parseFaults> {
  try {
    const rules = parseFaults(text, routePaths);
    if (rules.some(({ chance }) => chance < 1)) {
      throw new BadRequest('a chance is for --faults; here, # says how many calls are meant');
    }
    return rules;
  } catch (error) {
    if (error instanceof FaultSyntaxError) throw new BadRequest(error.message);
    throw error;
  }
}

/** Ends one payment, or all that are under way, and posts the notices. */
async function settle({ bank, ledger }: Controlled, body: unknown): Promise<SandboxAnswer> {
  const fields = new RequestFields(body ?? {});
  const outcome = readOutcome(fields.optionalText('outcome'));
  const named = fields.optionalText('endToEnd');
  const { payments } = ledger();
  const chosen = payments.filter(({ endToEnd, status }) =>
    named === null ? status === 'PROCESSING' : endToEnd === named,
  );
  if (named !== null && chosen.length === 0) return problem(404, { code: 'NotFound' });
  const settled = chosen.map(({ endToEnd }) => endToEnd);
  try {
    for (const endToEnd of settled) await bank.settle(endToEnd, outcome);
  } catch (error) {
    return problem(422, {
      code: 'NotSettled',
      detail: error instanceof Error ? error.message : '',
    });
  }
  return ok({ settled });
}

function readOutcome(text: string | null): 'COMPLETED' | 'FAILED' | undefined {
  if (text === null) return undefined;
  if (text === 'COMPLETED' || text === 'FAILED') return text;
  throw new BadRequest('outcome is neither COMPLETED nor FAILED');
}

function queued(plan: FaultPlan): unknown {
  return {
    queued: plan.queued().map(({ rule, left }) => ({
      path: rule.path,
      effects: rule.effects.map(nameOfEffect),
      left,
    })),
  };
}

/** An effect as it is shown. */
export function nameOfEffect({ name, value }: Effect): string {
  return value === 0 ? name : `${name}=${value}`;
}

function ok(body: unknown): SandboxAnswer {
  return { status: 200, body };
}
