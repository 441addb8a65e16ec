import type { DecodedPixCode } from '../../contract/types.ts';
import { decodeBrCode, type BrCode } from '../domain/br-code.ts';
import { numberFromCents } from '../domain/money.ts';
import { toKeyType, normalisePixKey } from '../domain/pix-key.ts';
import type { SessionOperation } from '../context/operation.ts';

/** Decodes a Pix code. It calls no provider and stores nothing. */
export const decodePixCode: SessionOperation<'decodePixCode'> = {
  access: 'session',
  async run(_context, { input }) {
    // The contract has checked the code.
    return { status: 200, body: codeReply(decodeBrCode(input.body.copy_paste)) };
  },
};

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
    ...keyReply(code.key),
    ...(code.amountCents !== null && { amount: numberFromCents(code.amountCents) }),
    ...(code.description !== null && { description: code.description }),
    ...(code.txid !== null && { txid: code.txid }),
  };
}

/** The key as a send would look it up. */
function keyReply(text: string): Pick<DecodedPixCode, 'pix_key' | 'pix_key_type'> {
  const { kind, key } = normalisePixKey(text);
  const type = toKeyType(kind);
  return { pix_key: key, ...(type !== null && { pix_key_type: type }) };
}
