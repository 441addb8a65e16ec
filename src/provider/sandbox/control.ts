/** The control path, which no provider has: what the bank did, and the faults of the next calls. */
import { createPathTree } from '../../contract/path-tree.ts';
import { createSchemaCompiler, type ValidateFunction } from '../../contract/schemas.ts';
import type { Bank } from '../stub/bank.ts';
import { toAnswer, problem, type SandboxAnswer } from './answers.ts';
import type { Calls } from './calls.ts';
import { type Effect, faultHints, FaultSyntaxError, parseFaults } from './fault-language.ts';
import type { FaultPlan } from './fault-plan.ts';
import type { LedgerView } from './ledger.ts';
import { BadRequest, check } from './request.ts';

/** What the control path works on. */
export interface Controlled {
  readonly bank: Bank;
  readonly calls: Calls;
  readonly plan: FaultPlan;
  /** The ledger as it is now. */
  readonly ledger: () => LedgerView;
}

interface ControlRequest {
  readonly method: string;
  /** From `/sandbox` on. */
  readonly url: string;
  /** Undefined without a body. */
  readonly body: unknown;
}

/** A body that a control request takes. */
interface TakenBody {
  readonly example: Readonly<Record<string, string>>;
  readonly validate: () => ValidateFunction;
}

interface Control {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Without one, it takes none. */
  readonly takes?: TakenBody;
  /** @param input the texts of its body and of its path. */
  work(
    controlled: Controlled,
    input: Readonly<Record<string, string | undefined>>,
  ): SandboxAnswer | Promise<SandboxAnswer>;
}

const { compile } = createSchemaCompiler({});

const TEXT = { type: 'string' };

/** Compiles the schema of an object with these properties. */
function fields(properties: object, required: readonly string[] = []): () => ValidateFunction {
  return compile({ type: 'object', properties, required });
}

const controls: readonly Control[] = [
  {
    method: 'GET',
    path: '/sandbox',
    work: () => ok({ control: offered(), faults: faultHints() }),
  },
  { method: 'GET', path: '/sandbox/ledger', work: ({ ledger }) => ok(ledger()) },
  { method: 'GET', path: '/sandbox/calls', work: ({ calls }) => ok({ calls: calls.list() }) },
  {
    method: 'DELETE',
    path: '/sandbox/calls',
    work({ calls }) {
      calls.clear();
      return ok({ calls: [] });
    },
  },
  { method: 'GET', path: '/sandbox/faults', work: ({ plan }) => ok(queued(plan)) },
  {
    method: 'POST',
    path: '/sandbox/faults',
    takes: {
      example: { faults: 'payments:5xx-after#2, keys/dict:latency=2s' },
      validate: fields({ faults: TEXT }, ['faults']),
    },
    work({ plan }, { faults = '' }) {
      plan.enqueue(readFaults(faults));
      return ok(queued(plan));
    },
  },
  {
    method: 'DELETE',
    path: '/sandbox/faults',
    work({ plan }) {
      plan.clearQueue();
      return ok(queued(plan));
    },
  },
  {
    method: 'POST',
    path: '/sandbox/expire-tokens',
    takes: { example: { email: 'dev@ponte.test' }, validate: fields({ email: TEXT }, ['email']) },
    work({ bank }, { email = '' }) {
      bank.expireCustomerTokens(email);
      return ok({ email });
    },
  },
  {
    method: 'POST',
    path: '/sandbox/settle',
    takes: {
      example: {
        endToEnd: 'of one payment; without it, all that are under way',
        outcome: 'COMPLETED or FAILED; without it, what the key provides for',
      },
      validate: fields({ endToEnd: TEXT, outcome: { enum: ['COMPLETED', 'FAILED'] } }),
    },
    work: settle,
  },
  {
    method: 'POST',
    path: '/sandbox/charges/{transactionIdentification}/pay',
    async work({ bank }, { transactionIdentification = '' }) {
      const answer = toAnswer(await bank.payCharge(transactionIdentification));
      return answer === 'hang' ? problem(500) : answer;
    },
  },
];

const tree = createPathTree(Map.groupBy(controls, ({ path }) => path));

/** The control requests, each with an example of its body. */
function offered(): unknown {
  return controls.map(({ method, path, takes }) => ({
    call: `${method} ${path}`,
    body: takes?.example ?? null,
  }));
}

/**
 * Carries a control request out.
 *
 * @throws BadRequest when the body is not what the request takes.
 */
export async function control(
  controlled: Controlled,
  { method, url, body = {} }: ControlRequest,
): Promise<SandboxAnswer> {
  const found = tree.find(url);
  const chosen =
    typeof found === 'string' ? undefined : found.entry.find((one) => one.method === method);
  if (typeof found === 'string' || chosen === undefined) {
    return problem(404, { detail: 'see GET /sandbox' });
  }
  const { takes, work } = chosen;
  if (takes) check([[takes.validate(), body]]);
  return work(controlled, { ...(takes && (body as object)), ...found.params });
}

/** Reads rules for the next calls. @throws BadRequest. */
export function readFaults(text: string): ReturnType<typeof parseFaults> {
  try {
    const rules = parseFaults(text);
    if (rules.some(({ chance }) => chance < 1)) {
      throw new BadRequest('a chance is for --faults; here, # says how many calls are meant');
    }
    return rules;
  } catch (error) {
    if (error instanceof FaultSyntaxError) throw new BadRequest(error.message);
    throw error;
  }
}

type Outcome = 'COMPLETED' | 'FAILED' | undefined;

/** Ends one payment, or all that are under way, and posts the notices. */
async function settle(
  { bank, ledger }: Controlled,
  { endToEnd: named, outcome }: Readonly<Record<string, string | undefined>>,
): Promise<SandboxAnswer> {
  const { payments } = ledger();
  const chosen = payments.filter(({ endToEnd, status }) =>
    named === undefined ? status === 'PROCESSING' : endToEnd === named,
  );
  if (named !== undefined && chosen.length === 0) return problem(404, { code: 'NotFound' });
  const settled = chosen.map(({ endToEnd }) => endToEnd);
  try {
    for (const endToEnd of settled) await bank.settle(endToEnd, outcome as Outcome);
  } catch (error) {
    return problem(422, {
      code: 'NotSettled',
      detail: error instanceof Error ? error.message : '',
    });
  }
  return ok({ settled });
}

function queued(plan: FaultPlan): unknown {
  return {
    queued: plan.queued().map(({ rule, left }) => ({
      path: rule.path,
      effects: rule.effects.map(formatEffect),
      left,
    })),
  };
}

/** An effect as it is shown. */
export function formatEffect({ name, value }: Effect): string {
  return value === 0 ? name : `${name}=${value}`;
}

function ok(body: unknown): SandboxAnswer {
  return { status: 200, body };
}
