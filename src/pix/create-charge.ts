import { randomUUIDv7 } from 'node:crypto';
import type { ChargeRequest } from '../../contract/types.ts';
import type { Context } from '../context/context.ts';
import { centsFromNumber } from '../domain/money.ts';
import { isPixKey, normalisePixKey } from '../domain/pix-key.ts';
import { normaliseTaxId } from '../domain/tax-id.ts';
import { newTransactionIdentification } from '../domain/pix.ts';
import { ProviderError } from '../provider/errors.ts';
import type {
  CallOptions,
  ChargeCode,
  ChargeOrder,
  ProviderSession,
} from '../provider/provider.ts';
import { callerSession } from '../auth/banking-sessions.ts';
import { completeAccount } from '../accounts/payer-account.ts';
import { chargeReply } from './transaction-reply.ts';
import { claimTransaction, computeFingerprint } from './idempotency.ts';
import { moveTransaction, type Move } from '../ledger/move-repository.ts';
import { rereadTransaction } from '../ledger/lost-commits.ts';
import type { PixTransaction } from '../ledger/pix-transaction-repository.ts';
import type { Principal } from '../domain/principal.ts';
import { toAppError } from '../auth/provider-failure.ts';
import type { SessionOperation } from '../context/operation.ts';

/** A day: the provider's default, and the longest in the contract. */
const defaultExpirationSeconds = 86_400;

const defaultCity = 'Sao Paulo';

/** The contract's longest `receiver_name`; the user's own name may be longer. */
const maxReceiverNameLength = 25;

/**
 * Creates a Pix charge. Its `transactionIdentification` is stored before the provider is called,
 * and a repeat of the same key continues with it: the provider can have created at most this one
 * charge, which no one can pay before its code is returned.
 */
export const createCharge: SessionOperation<'createCharge'> = {
  access: 'session',
  async run(context, { input, principal, request }) {
    const { locale } = request;
    completeAccount(context, principal);
    const session = callerSession(context, principal);
    const { type, ...order } = readBody(input.body, principal);
    const claim = await claimTransaction(context, {
      id: randomUUIDv7(),
      userId: principal.user.id,
      operation: 'CHARGE',
      idempotencyKey: input.headers['Idempotency-Key'],
      fingerprint: computeFingerprint(requestedTerms(input.body)),
      amountCents: order.amountCents,
      pixKey: order.key,
      description: order.description,
      transactionIdentification: newTransactionIdentification(),
      expiresAt: type === 'dynamic' ? computeExpiry(context, order) : null,
      claims: new Set(),
    });
    if (claim.result === 'replay')
      return chargeReply(claim.transaction, { replayed: true, locale });

    if (!claim.resumed) request.traceTransaction?.(claim.transaction.id);
    const charge: Charge = { type, order, transaction: claim.transaction, session };
    const issued = await issue(context, charge, request.callOptions);
    const { expiresAt = null } = claim.transaction;
    return chargeReply({ ...issued, expiresAt }, { replayed: claim.resumed, locale });
  },
};

interface Charge {
  readonly type: ChargeRequest['type'];
  readonly order: Omit<ChargeOrder, 'transactionIdentification'>;
  readonly transaction: PixTransaction;
  readonly session: ProviderSession;
}

/** Counted from the reservation: the provider counts from its own receipt, which is later. */
function computeExpiry({ clock }: Context, order: Pick<ChargeOrder, 'expirationSeconds'>): Date {
  return new Date(clock.now().getTime() + order.expirationSeconds * 1_000);
}

function readBody(body: ChargeRequest, { user, account }: Principal) {
  return {
    type: body.type,
    key: normalisePixKey(body.key ?? ownKey(user.email, account?.document)).key,
    // The contract has checked the range and the decimals.
    amountCents: centsFromNumber(body.amount) ?? 0,
    description: body.description ?? null,
    receiverName: body.receiver_name ?? [...user.name].slice(0, maxReceiverNameLength).join(''),
    city: body.city ?? defaultCity,
    zipcode: body.zipcode ?? null,
    expirationSeconds: body.expiration_qr ?? defaultExpirationSeconds,
    payerName: body.payer_name ?? null,
    payerDocument: normaliseTaxId(body.payer_cpf ?? ''),
    reusable: body.reusable ?? false,
    categoryCode: body.code_category ?? null,
    additionalData: (body.additional_data ?? []).map(({ name, value }) => ({ name, value })),
  };
}

/** The first of a user's own data that may be a Pix key; a long e-mail is none. */
function ownKey(...own: readonly (string | null | undefined)[]): string {
  return own.find((text) => isPixKey(text ?? '')) ?? '';
}

/**
 * The fields of the request that its fingerprint covers. Defaults are excluded, because the name
 * and the e-mail that they come from may change between a request and its repeat.
 */
function requestedTerms(body: ChargeRequest): unknown[] {
  return [
    body.type,
    centsFromNumber(body.amount),
    body.key === undefined ? null : normalisePixKey(body.key).key,
    body.description,
    body.receiver_name,
    body.city,
    body.zipcode,
    body.expiration_qr,
    body.payer_name,
    normaliseTaxId(body.payer_cpf ?? ''),
    body.reusable,
    body.code_category,
    body.additional_data?.map(({ name, value }) => [name, value]),
  ];
}

async function issue(
  context: Context,
  charge: Charge,
  options: CallOptions,
): Promise<PixTransaction> {
  const { id, transactionIdentification } = charge.transaction;
  if (transactionIdentification === null) throw new Error('a charge has no identification');
  const order: ChargeOrder = { ...charge.order, transactionIdentification };
  const { session } = charge;
  const { provider } = context;
  try {
    const code = await (charge.type === 'dynamic'
      ? provider.createDynamicCharge({ session, order, ...options })
      : provider.createStaticCharge({ session, order, ...options }));
    const issued = await moveTransaction(context, id, issuedAs(code));
    return issued ?? (await rereadTransaction(context, charge.transaction));
  } catch (error) {
    if (error instanceof ProviderError) await moveTransaction(context, id, failedBy(error));
    // A charge whose code was not returned cannot be paid: the app may use the same key or a new
    // one, as PROVIDER_UNAVAILABLE says.
    throw toAppError(error);
  }
}

function issuedAs(code: ChargeCode): Move {
  return {
    from: ['RESERVED'],
    to: 'ACCEPTED',
    status: 'PROCESSING',
    outcome: 'accepted',
    qrCode: code.qrCode,
    copyPaste: code.copyPaste,
    providerTxid: code.providerTxid,
    timeline: [{ phase: 'ACCEPTED', providerStatus: '2xx' }],
  };
}

/** A refusal ends the charge; after any other failure a repeat of the same key may continue. */
function failedBy(error: ProviderError): Move {
  const { statusClass: providerStatus, attempts: attempt, code: failureCode } = error;
  if (error.outcome === 'rejected') {
    return {
      from: ['RESERVED'],
      to: 'REJECTED',
      status: 'FAILED',
      outcome: 'rejected',
      failureCode,
      timeline: [{ phase: 'REJECTED', attempt, providerStatus }],
    };
  }
  return {
    from: ['RESERVED'],
    to: 'RESERVED',
    status: 'PROCESSING',
    timeline: [{ phase: 'RESERVED', attempt, providerStatus, note: 'may_be_repeated' }],
  };
}
