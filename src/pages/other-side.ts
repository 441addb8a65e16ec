/**
 * The other side of the simulated bank, for `APP_ENV=local` only: what payers, other banks and bad
 * luck do. It is no part of the contract. The webhooks that follow come as from the provider.
 */
import { centsFromDecimal } from '../domain/money.ts';
import { AppError } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { jsonReply, type Reply } from '../http/reply.ts';
import type { SystemRoute } from '../http/router.ts';

/** What the simulated bank answers. */
interface BankAnswer {
  readonly outcome: 'done' | 'refused' | 'faulty';
  /** Why it refuses. */
  readonly refusal?: { readonly reason: string };
}

/** What the simulated bank can be made to do. */
export interface OtherSide {
  /** Pays a charge; resolves once its webhook is received, or its next attempt is scheduled. */
  payCharge(transactionIdentification: string): Promise<BankAnswer>;
  /** @returns the identification of the charge that has this code, or null. */
  findCharge(copyPaste: string): string | null;
  /** Credits a customer with a Pix that pays no charge; the webhook follows. */
  receive(email: string, amountCents: number): Promise<BankAnswer>;
  /** Refuses all tokens that a customer has. */
  expireCustomerTokens(email: string): void;
  /** Lets the next call for a customer fail, with all its attempts. */
  failNextCall(email: string): void;
}

/** The header that a page of another origin cannot send without being asked about it first. */
const OWN_HEADER = 'x-ponte-bank';

type Act = (bank: OtherSide, query: URLSearchParams) => Promise<BankAnswer> | BankAnswer;

const acts: Readonly<Record<string, Act>> = {
  'pay-charge': (bank, query) => {
    const code = (query.get('code') ?? '').trim();
    return bank.payCharge(bank.findCharge(code) ?? code);
  },
  receive: (bank, query) => {
    const cents = centsFromDecimal(query.get('amount') ?? '');
    if (cents === null || cents < 1) return refused('InvalidAmount');
    return bank.receive(emailIn(query), cents);
  },
  'expire-token': (bank, query) => {
    bank.expireCustomerTokens(emailIn(query));
    return { outcome: 'done' };
  },
  'fail-next': (bank, query) => {
    bank.failNextCall(emailIn(query));
    return { outcome: 'done' };
  },
};

/** The routes under `/dev/bank`: each does one thing, with its values in the query. */
export function bankRoutes(bank: OtherSide): SystemRoute[] {
  return Object.entries(acts).map(([name, act]) => ({
    kind: 'system',
    name: 'bank',
    method: 'POST',
    path: `/dev/bank/${name}`,
    answer: (exchange) => answer(exchange, (query) => act(bank, query)),
  }));
}

async function answer(
  { request }: Exchange,
  act: (query: URLSearchParams) => Promise<BankAnswer> | BankAnswer,
): Promise<Reply> {
  if (request.headers[OWN_HEADER] === undefined) throw new AppError('BAD_REQUEST');
  const [, query = ''] = (request.url ?? '').split('?');
  const { outcome, refusal } = await act(new URLSearchParams(query));
  return outcome === 'done'
    ? jsonReply(200, { message: 'The bank has done it.' })
    : jsonReply(422, { message: `The bank refuses it: ${refusal?.reason ?? outcome}.` });
}

function emailIn(query: URLSearchParams): string {
  return (query.get('email') ?? '').trim().toLowerCase();
}

function refused(reason: string): BankAnswer {
  return { outcome: 'refused', refusal: { reason } };
}
