/**
 * The other side of the simulated bank, for `APP_ENV=local` only: what payers, other banks and bad
 * luck do. It is not part of the contract. The resulting webhooks arrive as from the provider.
 */
import { dayMs } from '../clock.ts';
import { centsFromDecimal } from '../domain/money.ts';
import { AppError, invalidField, type FieldErrors, type Text } from '../errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { jsonReply, type Reply } from '../http/reply.ts';
import type { SystemRoute } from '../http/router.ts';
import type { CodeState } from '../provider/provider.ts';

/** The result of a request to the simulated bank. */
interface BankResponse {
  readonly outcome: 'done' | 'refused' | 'faulty';
  /** The reason of a refusal. */
  readonly refusal?: { readonly reason: string };
  /** What was made. */
  readonly value?: unknown;
}

/** The actions that a developer can trigger in the simulated bank. */
export interface BankControls {
  /** Pays a charge; resolves once its webhook is received, or its next attempt is scheduled. */
  payCharge(transactionIdentification: string): Promise<BankResponse>;
  /** @returns the identification of the charge that has this code, or null. */
  findCharge(copyPaste: string): string | null;
  /** Makes a charge of a shop at another bank, with its dynamic code: the response has the text. */
  makeCode(amountCents: number, state: CodeState): BankResponse;
  /** @returns whether a user of Ponte has this e-mail. */
  isCustomer(email: string): Promise<boolean>;
  /** Credits a customer with a Pix that pays no charge; the webhook follows. */
  receive(email: string, amountCents: number): Promise<BankResponse>;
  /** @returns the end-to-end id of a transaction of Ponte, or null. */
  findTransfer(transactionId: string): Promise<string | null>;
  /**
   * Returns a completed payment, or a received Pix; the webhook follows.
   * @param amountCents by default the whole amount not yet returned.
   */
  refund(endToEnd: string, amountCents?: number): Promise<BankResponse>;
  /** Refuses all tokens that a customer has. */
  expireCustomerTokens(email: string): void;
  /** Lets the next call for a customer fail, with all its attempts. */
  failNextCall(email: string): void;
  /**
   * Moves the clock of service and bank forward: what waits comes due.
   * @param ms how far, in milliseconds.
   * @returns the new time.
   */
  advance(ms: number): Date;
}

/** The header that a page of another origin cannot send without a CORS preflight. */
const ownHeader = 'x-ponte-bank';

type Act = (bank: BankControls, query: URLSearchParams) => Promise<BankResponse> | BankResponse;

const acts: Readonly<Record<string, Act>> = {
  'pay-charge': async (bank, query) => {
    const code = (query.get('code') ?? '').trim();
    const paid = await bank.payCharge(bank.findCharge(code) ?? code);
    const text = chargeTexts.get(paid.refusal?.reason ?? '');
    if (text) throw invalidField('code', text);
    return paid;
  },
  receive: async (bank, query) => {
    const cents = centsIn(query);
    const email = await customerIn(bank, query);
    if (email === null || cents === null) {
      throw invalidFields({
        ...(email === null && { email: [customerText] }),
        ...(cents === null && { amount: [amountText] }),
      });
    }
    return bank.receive(email, cents);
  },
  'make-code': (bank, query) => {
    const cents = centsIn(query);
    if (cents === null) throw invalidField('amount', amountText);
    const state = codeStates.find((one) => one === query.get('state'));
    return bank.makeCode(cents, state ?? 'payable');
  },
  return: returnTransfer,
  'expire-token': async (bank, query) => {
    bank.expireCustomerTokens(await requireCustomer(bank, query));
    return { outcome: 'done' };
  },
  'fail-next': async (bank, query) => {
    bank.failNextCall(await requireCustomer(bank, query));
    return { outcome: 'done' };
  },
  advance: (bank, query) => {
    const ms = durationIn(query);
    if (ms === null) throw invalidField('by', durationText);
    return { outcome: 'done', value: { now: bank.advance(ms).toISOString() } };
  },
};

const unitMs: Readonly<Record<string, number>> = { m: 60_000, h: 60 * 60_000, d: dayMs };

/** @returns the duration in milliseconds, or null for one that is none or over a year. */
function durationIn(query: URLSearchParams): number | null {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec((query.get('by') ?? '').trim()) ?? [];
  const ms = Number(count) * (unitMs[unit ?? ''] ?? 0);
  return ms > 0 && ms <= 366 * dayMs ? ms : null;
}

const durationText: Text = {
  en: 'Must be a number of minutes, hours or days, such as 30m, 24h or 7d, up to 366d.',
  pt: 'Deve ser um número de minutos, horas ou dias, como 30m, 24h ou 7d, até 366d.',
};

const codeStates: readonly CodeState[] = ['payable', 'paid', 'expired', 'removed'];

/** Checks both fields first, so that one reply has all their errors. */
async function returnTransfer(bank: BankControls, query: URLSearchParams): Promise<BankResponse> {
  const endToEnd = await bank.findTransfer((query.get('transaction') ?? '').trim());
  const isWhole = (query.get('amount') ?? '').trim() === '';
  const cents = isWhole ? undefined : centsIn(query);
  if (endToEnd === null || cents === null) {
    throw invalidFields({
      ...(endToEnd === null && { transaction: [refundTexts.unknown] }),
      ...(cents === null && { amount: [amountText] }),
    });
  }
  const done = await bank.refund(endToEnd, cents);
  const reason = done.refusal?.reason;
  if (reason === 'TransferNotFound') throw invalidField('transaction', refundTexts.unknown);
  if (reason === 'TransferNotCompleted') throw invalidField('transaction', refundTexts.open);
  // Of the amount: with an omitted one nothing is left.
  if (reason !== 'AM09') return done;
  throw isWhole
    ? invalidField('transaction', refundTexts.returned)
    : invalidField('amount', refundTexts.exceeded);
}

const customerText: Text = {
  en: 'Is not the e-mail of a user: register the person first.',
  pt: 'Não é o e-mail de um usuário: cadastre a pessoa primeiro.',
};

const amountText: Text = {
  en: 'Must be an amount in reais, such as 42.50.',
  pt: 'Deve ser um valor em reais, como 42.50.',
};

/** Why a charge is not paid, by the bank's reason. */
const chargeTexts: ReadonlyMap<string, Text> = new Map([
  [
    'ChargeNotFound',
    {
      en: 'Is not the code of a charge of the simulated bank.',
      pt: 'Não é o código de uma cobrança do banco simulado.',
    },
  ],
  ['ChargeAlreadyPaid', { en: 'The charge is already paid.', pt: 'A cobrança já foi paga.' }],
  ['ChargeExpired', { en: 'The charge has expired.', pt: 'A cobrança expirou.' }],
]);

const refundTexts = {
  unknown: {
    en: 'Is not a payment or a received Pix of the simulated bank.',
    pt: 'Não é um pagamento nem um Pix recebido do banco simulado.',
  },
  open: {
    en: 'Is not completed: there is nothing to return.',
    pt: 'Não está concluída: não há o que devolver.',
  },
  returned: {
    en: 'Was returned in whole already.',
    pt: 'Já foi devolvida por inteiro.',
  },
  exceeded: {
    en: 'Is more than what is left to return.',
    pt: 'É mais do que resta a devolver.',
  },
} satisfies Record<string, Text>;

/** The routes under `/dev/bank`: each does one thing, with its values in the query. */
export function bankRoutes(bank: BankControls): SystemRoute[] {
  return Object.entries(acts).map(([name, act]) => ({
    kind: 'system',
    name: 'bank',
    method: 'POST',
    path: `/dev/bank/${name}`,
    reply: (exchange) => respond(exchange, (query) => act(bank, query)),
  }));
}

interface Made {
  readonly copyPaste?: string;
  /** The new time, ISO 8601. */
  readonly now?: string;
}

async function respond(
  { request }: Exchange,
  act: (query: URLSearchParams) => Promise<BankResponse> | BankResponse,
): Promise<Reply> {
  if (request.headers[ownHeader] === undefined) throw new AppError('BAD_REQUEST');
  const [, query = ''] = (request.url ?? '').split('?');
  const { outcome, refusal, value } = await act(new URLSearchParams(query));
  const { copyPaste, now } = (value ?? {}) as Made;
  const made = { ...(copyPaste && { copy_paste: copyPaste }), ...(now && { now }) };
  const message = now ? `It is ${now} now.` : 'The bank has done it.';
  return outcome === 'done'
    ? jsonReply(200, { message, ...made })
    : jsonReply(422, {
        message: `The bank refuses it: ${sayRefusal(refusal?.reason ?? outcome)}.`,
      });
}

/** @param reason a name of the bank; one that is not known here stays as it is. */
function sayRefusal(reason: string): string {
  return reason === 'InvalidCredit' ? 'the amount is too large for it' : reason;
}

function invalidFields(fields: FieldErrors): AppError {
  return new AppError('VALIDATION_FAILED', { fields });
}

/** @returns the e-mail of a user, or null. */
async function customerIn(bank: BankControls, query: URLSearchParams): Promise<string | null> {
  const email = (query.get('email') ?? '').trim().toLowerCase();
  return (await bank.isCustomer(email)) ? email : null;
}

async function requireCustomer(bank: BankControls, query: URLSearchParams): Promise<string> {
  const email = await customerIn(bank, query);
  if (email === null) throw invalidField('email', customerText);
  return email;
}

/** @returns the amount in centavos, or null for one that cannot be paid. */
function centsIn(query: URLSearchParams): number | null {
  const cents = centsFromDecimal((query.get('amount') ?? '').trim());
  return cents === null || cents < 1 ? null : cents;
}
