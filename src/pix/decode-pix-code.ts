import type { DecodedPixCode, ProviderErrorCode } from '../../contract/types.ts';
import { accountOrRefusal } from '../accounts/payer-account.ts';
import { callerSession } from '../auth/banking-sessions.ts';
import { readFromProvider } from '../auth/provider-failure.ts';
import { offers } from '../config/config.ts';
import type { Context } from '../context/context.ts';
import type { RequestFacts, SessionOperation } from '../context/operation.ts';
import type { Bank } from '../domain/bank.ts';
import { cleanBrCode, decodeBrCode, type BrCode } from '../domain/br-code.ts';
import { maskedOwner } from '../domain/key-owner.ts';
import { numberFromCents } from '../domain/money.ts';
import { normalisePixKey } from '../domain/pix-key.ts';
import type { Principal } from '../domain/principal.ts';
import { AppError } from '../errors.ts';
import type { CodeCharge } from '../provider/provider.ts';
import { readCodeLookUp, sealCode } from './confirmed-code.ts';
import { countCodeLookUp } from './directory-budget.ts';
import { keyReply, ownerReply } from './key-reply.ts';
import { findPause } from '../ledger/pause-repository.ts';

/**
 * Decodes a Pix code. The provider is asked for the charge of a dynamic one, where it offers that;
 * the address in the code is never called. A charge that cannot be read leaves the reply as it is
 * without a provider, so that an app can always show what the code says.
 */
export const decodePixCode: SessionOperation<'decodePixCode'> = {
  access: 'session',
  async run(context, { input, principal, request }) {
    const text = input.body.copy_paste;
    // The contract has checked the code.
    const code = decodeBrCode(text);
    const body = codeReply(code);
    if (code.kind === 'static' || code.isRecurring) return { status: 200, body };
    const asked = { text, url: code.url, principal, request };
    return { status: 200, body: { ...body, ...(await readCharge(context, asked)) } };
  },
};

interface AskedCode {
  readonly text: string;
  readonly url: string;
  readonly principal: Principal;
  readonly request: RequestFacts;
}

/** @returns the fields of the charge of a dynamic code; none where no payment is possible now. */
async function readCharge(
  context: Context,
  { text, url, principal, request }: AskedCode,
): Promise<Partial<DecodedPixCode>> {
  if (!offers(context.config, 'dynamic-codes') || (await findPause(context))) return {};
  const account = accountOrRefusal(context, principal);
  if (account instanceof AppError) return {};
  const userId = principal.user.id;
  if (!(await countCodeLookUp(context, userId))) return { unread: 'PROVIDER_RATE_LIMITED' };
  const session = callerSession(context, principal);
  const lookUp = { payerId: account.document, text: cleanBrCode(text) };
  const call = context.provider.readCode({ session, ...lookUp, ...request.callOptions });
  try {
    const charge = await readFromProvider(call);
    return chargeReply(
      asOf(context.clock.now(), charge),
      sealCode(context, { userId, url }, readCodeLookUp(charge, account.document)),
      context.config.provider.bank,
    );
  } catch (error) {
    if (error instanceof AppError && isProviderError(error.code)) return { unread: error.code };
    throw error;
  }
}

/** A charge whose end has come is expired, whatever the provider still says of it. */
function asOf(now: Date, charge: CodeCharge): CodeCharge {
  const isOver = charge.expiresAt !== null && charge.expiresAt <= now;
  return isOver && charge.state === 'payable' ? { ...charge, state: 'expired' } : charge;
}

function isProviderError(code: AppError['code']): code is ProviderErrorCode {
  return new AppError(code).status === 502;
}

const states = {
  payable: 'PAYABLE',
  paid: 'PAID',
  expired: 'EXPIRED',
  removed: 'REMOVED',
} as const satisfies Record<CodeCharge['state'], NonNullable<DecodedPixCode['state']>>;

function chargeReply(
  charge: CodeCharge,
  { lookupId, expiresAt }: ReturnType<typeof sealCode>,
  own: Bank,
): Partial<DecodedPixCode> {
  const { amountCents, isChangeable, minCents, maxCents } = charge.amounts;
  const { originalCents, discountCents, interestCents, fineCents } = charge;
  return {
    state: states[charge.state],
    payee: ownerReply(maskedOwner(charge), own),
    txid: charge.txid,
    ...(charge.description !== null && { description: charge.description }),
    ...(amountCents !== null && { amount: numberFromCents(amountCents) }),
    amount_changeable: isChangeable,
    ...(minCents !== null && { minimum_amount: numberFromCents(minCents) }),
    ...(maxCents !== null && { maximum_amount: numberFromCents(maxCents) }),
    ...(originalCents !== null && { original_amount: numberFromCents(originalCents) }),
    ...(discountCents !== null && { discount: numberFromCents(discountCents) }),
    ...(interestCents !== null && { interest: numberFromCents(interestCents) }),
    ...(fineCents !== null && { fine: numberFromCents(fineCents) }),
    ...(charge.dueDate !== null && { due_date: charge.dueDate }),
    ...(charge.expiresAt !== null && { charge_expires_at: charge.expiresAt.toISOString() }),
    lookup_id: lookupId,
    expires_at: expiresAt.toISOString(),
  };
}

type BrCodeOf<Kind> = Extract<BrCode, { kind: Kind }>;

function codeReply(code: BrCode): DecodedPixCode {
  return {
    kind: code.kind,
    one_time: code.oneTime,
    ...(code.kind === 'static' ? staticReply(code) : dynamicReply(code)),
    payee_name: code.receiverName,
    payee_city: code.city,
  };
}

function dynamicReply({ url, isRecurring }: BrCodeOf<'dynamic'>): Partial<DecodedPixCode> {
  return { url, ...(isRecurring && { purpose: 'PIX_AUTOMATICO' }) };
}

function staticReply(code: BrCodeOf<'static'>): Partial<DecodedPixCode> {
  return {
    ...(code.isWithdrawal && { purpose: 'PIX_SAQUE' }),
    ...keyReply(normalisePixKey(code.key)),
    ...(code.amountCents !== null && { amount: numberFromCents(code.amountCents) }),
    ...(code.description !== null && { description: code.description }),
    ...(code.txid !== null && { txid: code.txid }),
  };
}
