/** The control path, which no provider has: the bank's ledger, and the faults of the next calls. */
import { createPathTree } from '../../contract/path-tree.ts';
import { createSchemaCompiler, type ValidateFunction } from '../../contract/schemas.ts';
import { centsFromDecimal } from '../../domain/money.ts';
import type { NewCode } from './bank/codes.ts';
import type { BankResponse } from './bank/response.ts';
import type { Bank } from './bank/bank.ts';
import { toSandboxResponse, problem, type SandboxResponse } from './responses.ts';
import type { Calls } from './calls.ts';
import { type Effect, faultHints, FaultSyntaxError, parseFaults } from './fault-language.ts';
import type { FaultPlan } from './fault-plan.ts';
import { ledgerView } from './ledger.ts';
import { BadRequest, check } from './request.ts';

/** The parts that the control path reads and changes. */
export interface Controlled {
  readonly bank: Bank;
  readonly calls: Calls;
  readonly plan: FaultPlan;
}

interface ControlRequest {
  readonly method: string;
  /** The path from `/sandbox` on. */
  readonly url: string;
  /** Undefined without a body. */
  readonly body: unknown;
}

/** The body of a control request. */
interface ControlBody {
  readonly example: Readonly<Record<string, string>>;
  readonly validate: () => ValidateFunction;
}

interface Control {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  /** Undefined for a request without a body. */
  readonly accepts?: ControlBody;
  /** @param input the texts of its body and of its path. */
  run(
    controlled: Controlled,
    input: Readonly<Record<string, string | undefined>>,
  ): SandboxResponse | Promise<SandboxResponse>;
}

const { compile } = createSchemaCompiler({});

const textSchema = { type: 'string' };

/** Compiles the schema of an object with these properties. */
function fields(properties: object, required: readonly string[] = []): () => ValidateFunction {
  return compile({ type: 'object', properties, required });
}

const codeFields = 'amount minimum maximum discount interest fine dueDate key'.split(' ');

const controls: readonly Control[] = [
  {
    method: 'GET',
    path: '/sandbox',
    run: () => ok({ control: listControls(), faults: faultHints() }),
  },
  { method: 'GET', path: '/sandbox/ledger', run: ({ bank }) => ok(ledgerView(bank.state)) },
  { method: 'GET', path: '/sandbox/calls', run: ({ calls }) => ok({ calls: calls.list() }) },
  {
    method: 'DELETE',
    path: '/sandbox/calls',
    run({ calls }) {
      calls.clear();
      return ok({ calls: [] });
    },
  },
  { method: 'GET', path: '/sandbox/faults', run: ({ plan }) => ok(queued(plan)) },
  {
    method: 'POST',
    path: '/sandbox/faults',
    accepts: {
      example: { faults: 'payments:5xx-after#2, keys/dict:latency=2s' },
      validate: fields({ faults: textSchema }, ['faults']),
    },
    run({ plan }, { faults = '' }) {
      plan.enqueue(readFaults(faults));
      return ok(queued(plan));
    },
  },
  {
    method: 'DELETE',
    path: '/sandbox/faults',
    run({ plan }) {
      plan.clearQueue();
      return ok(queued(plan));
    },
  },
  {
    method: 'POST',
    path: '/sandbox/expire-tokens',
    accepts: {
      example: { email: 'dev@ponte.test' },
      validate: fields({ email: textSchema }, ['email']),
    },
    run({ bank }, { email = '' }) {
      bank.expireCustomerTokens(email);
      return ok({ email });
    },
  },
  {
    method: 'POST',
    path: '/sandbox/settle',
    accepts: {
      example: {
        endToEnd: 'of one payment; by default, all payments in progress',
        outcome: 'COMPLETED or FAILED; by default, the outcome of the key',
      },
      validate: fields({ endToEnd: textSchema, outcome: { enum: ['COMPLETED', 'FAILED'] } }),
    },
    run: settle,
  },
  {
    method: 'POST',
    path: '/sandbox/codes',
    accepts: {
      example: {
        amount: 'in reais, such as 10.00; by default 10.00, empty: the payer chooses it',
        minimum: 'in reais; with it or `maximum` the amount may be changed',
        maximum: 'in reais',
        dueDate: '2026-05-20 for a charge with a due date (cobv); by default none',
        discount: 'in reais',
        interest: 'in reais',
        fine: 'in reais',
        state: 'payable, paid, expired or removed; by default payable',
        key: 'of the payee; a magic value has its effect',
      },
      validate: fields({
        ...Object.fromEntries(codeFields.map((name) => [name, textSchema])),
        state: { enum: ['payable', 'paid', 'expired', 'removed'] },
      }),
    },
    run: ({ bank }, wish) => written(bank.makeCode(readCodeWish(wish))),
  },
  {
    method: 'POST',
    path: '/sandbox/charges/{transactionIdentification}/pay',
    run: ({ bank }, { transactionIdentification = '' }) =>
      written(bank.payCharge(transactionIdentification)),
  },
  {
    method: 'POST',
    path: '/sandbox/charges/{transactionIdentification}/expire',
    run: ({ bank }, { transactionIdentification = '' }) =>
      written(bank.expireCharge(transactionIdentification)),
  },
  {
    method: 'POST',
    path: '/sandbox/transfers/{endToEnd}/refund',
    accepts: {
      example: { amount: 'in reais, such as 5.00; by default, everything that is left' },
      validate: fields({ amount: textSchema }),
    },
    run({ bank }, { endToEnd = '', amount }) {
      const cents = amount === undefined ? undefined : (centsFromDecimal(amount) ?? 0);
      return written(bank.refund(endToEnd, cents));
    },
  },
  {
    method: 'POST',
    path: '/sandbox/disputes/{endToEnd}/decide',
    accepts: {
      example: { decision: 'ACCEPTED or REJECTED; by default, the decision of the key' },
      validate: fields({ decision: { enum: ['ACCEPTED', 'REJECTED'] } }),
    },
    async run({ bank }, { endToEnd = '', decision }) {
      if (bank.state.disputes.get(endToEnd)?.status !== 'OPEN') {
        return problem(404, { code: 'NoOpenDispute' });
      }
      await bank.decideDispute(endToEnd, decision as 'ACCEPTED' | 'REJECTED' | undefined);
      return ok({ endToEnd, status: bank.state.disputes.get(endToEnd)?.status });
    },
  },
];

const tree = createPathTree(Map.groupBy(controls, ({ path }) => path));

/** The control requests, each with an example of its body. */
function listControls(): unknown {
  return controls.map(({ method, path, accepts }) => ({
    call: `${method} ${path}`,
    body: accepts?.example ?? null,
  }));
}

/**
 * Executes a control request.
 *
 * @throws BadRequest for an invalid body.
 */
export async function control(
  controlled: Controlled,
  { method, url, body = {} }: ControlRequest,
): Promise<SandboxResponse> {
  const found = tree.find(url);
  const chosen =
    typeof found === 'string' ? undefined : found.entry.find((one) => one.method === method);
  if (typeof found === 'string' || chosen === undefined) {
    return problem(404, { detail: 'see GET /sandbox' });
  }
  const { accepts, run } = chosen;
  if (accepts) check([[accepts.validate(), body]]);
  return run(controlled, { ...(accepts && (body as object)), ...found.params });
}

/** Reads rules for the next calls. @throws BadRequest. */
export function readFaults(text: string): ReturnType<typeof parseFaults> {
  try {
    const rules = parseFaults(text);
    if (rules.some(({ chance }) => chance < 1)) {
      throw new BadRequest(
        'a chance (@) is valid in --faults only; use # and a number of calls here',
      );
    }
    return rules;
  } catch (error) {
    if (error instanceof FaultSyntaxError) throw new BadRequest(error.message);
    throw error;
  }
}

/** Reads the charge that a developer wishes; an amount that cannot be read is none. */
function readCodeWish(wish: Readonly<Record<string, string | undefined>>): NewCode {
  const cents = (name: string): number | undefined => {
    const text = wish[name];
    return text === undefined ? undefined : (centsFromDecimal(text) ?? 0);
  };
  const [minCents, maxCents] = [cents('minimum'), cents('maximum')];
  return {
    amountCents: wish['amount'] === '' ? null : cents('amount'),
    ...((minCents ?? maxCents) !== undefined && { isChangeable: true }),
    minCents,
    maxCents,
    discountCents: cents('discount'),
    interestCents: cents('interest'),
    fineCents: cents('fine'),
    dueDate: wish['dueDate'],
    key: wish['key'],
    state: wish['state'] as NewCode['state'],
  };
}

/** A request of these never hangs. */
async function written(
  pending: BankResponse<unknown> | Promise<BankResponse<unknown>>,
): Promise<SandboxResponse> {
  const response = toSandboxResponse(await pending);
  return response === 'hang' ? problem(500) : response;
}

type Outcome = 'COMPLETED' | 'FAILED' | undefined;

/** Settles one payment, or all in progress, and posts the webhooks. */
async function settle(
  { bank }: Controlled,
  { endToEnd: named, outcome }: Readonly<Record<string, string | undefined>>,
): Promise<SandboxResponse> {
  const { payments } = ledgerView(bank.state);
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

function ok(body: unknown): SandboxResponse {
  return { status: 200, body };
}
