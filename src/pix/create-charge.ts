import { randomUUIDv7 } from 'node:crypto';
import type { ChargeRequest } from '../../contract/types.ts';
import type { Context } from '../context.ts';
import { centsFromNumber } from '../domain/money.ts';
import { normalisePixKey } from '../domain/pix-key.ts';
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
import { claimTransaction, fingerprintOf } from './idempotency.ts';
import {
  moveTransaction,
  rereadTransaction,
  type Move,
  type PixTransactionRow,
} from './transactions.ts';
import type { Principal } from '../auth/principal.ts';
import { toAppError } from '../auth/provider-failure.ts';
import type { SessionOperation } from '../http/operation.ts';

/** A day: what the provider takes when nothing is said, and the contract's longest. */
const defaultExpirationSeconds = 86_400;

const defaultCity = 'Sao Paulo';

/** The contract's longest `receiver_name`; the user's own name may be longer. */
const maxReceiverNameLength = 25;

/**
 * Makes a PIX charge. Its `transactionIdentification` is stored before the provider is called, and
 * a repeat of the same key goes on with it: the provider can have made this one charge at most, and
 * until its code is told nobody can pay it.
 */
export const createCharge: SessionOperation<'createCharge'> = {
  access: 'session',
  async run(context, { input, principal, request }) {
    completeAccount(context, principal);
    const session = callerSession(context, principal);
    const { type, ...order } = readBody(input.body, principal);
    const claim = await claimTransaction(context, {
      id: randomUUIDv7(),
      userId: principal.user.id,
      operation: 'CHARGE',
      idempotencyKey: input.headers['Idempotency-Key'],
      fingerprint: fingerprintOf(askedFor(input.body)),
      amountCents: order.amountCents,
      pixKey: order.key,
      description: order.description,
      transactionIdentification: newTransactionIdentification(),
    });
    if (claim.work === 'theirs') return chargeReply(claim.transaction, { replayed: true });

    const charge: Charge = { type, order, transaction: claim.transaction, session };
    const issued = await issue(context, charge, request.callOptions);
    return chargeReply(issued, { replayed: claim.resumed });
  },
};

interface Charge {
  readonly type: ChargeRequest['type'];
  readonly order: Omit<ChargeOrder, 'transactionIdentification'>;
  readonly transaction: PixTransactionRow;
  readonly session: ProviderSession;
}

function readBody(body: ChargeRequest, { user, account }: Principal) {
  return {
    type: body.type,
    key: normalisePixKey(body.key ?? user.email ?? account?.document ?? '').key,
    // The contract has checked the range and the decimals.
    amountCents: centsFromNumber(body.amount) ?? 0,
    description: body.description ?? null,
    receiverName: body.receiver_name ?? [...user.name].slice(0, maxReceiverNameLength).join(''),
    city: body.city ?? defaultCity,
    zipcode: body.zipcode ?? null,
    expirationSeconds: body.expiration_qr ?? defaultExpirationSeconds,
    payerName: body.payer_name ?? null,
    payerDocument: body.payer_cpf === undefined ? null : bareDocument(body.payer_cpf),
    reusable: body.reusable ?? false,
    categoryCode: body.code_category ?? null,
    additionalData: (body.additional_data ?? []).map(({ name, value }) => ({ name, value })),
  };
}

/**
 * What makes two requests one: what the app has written. Defaults are not part of it, because the
 * name and the e-mail that they come from may change between a request and its repeat.
 */
function askedFor(body: ChargeRequest): unknown[] {
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
    body.payer_cpf,
    body.reusable,
    body.code_category,
    body.additional_data?.map(({ name, value }) => [name, value]),
  ];
}

/** The contract limits only the length; what is no valid document is the provider's to refuse. */
function bareDocument(text: string): string {
  return normaliseTaxId(text) ?? text.replace(/[\s./-]/g, '');
}

async function issue(
  context: Context,
  charge: Charge,
  options: CallOptions,
): Promise<PixTransactionRow> {
  const { id, transaction_identification: transactionIdentification } = charge.transaction;
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
    // A charge that may have been made, and whose code nobody was told, is as good as none: the app
    // may take the same key or a new one, as PROVIDER_UNAVAILABLE says.
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

/** A refusal ends the charge; after anything else a repeat of the same key may go on with it. */
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
