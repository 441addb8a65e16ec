/** `webhook send`: composes the webhook that the provider would post about a transaction. */
import type { LocalContext } from '../context/context.ts';
import { isRefund, newEndToEndId, newReturnId } from '../domain/pix.ts';
import { centsFromDecimal, numberFromCents } from '../domain/money.ts';
import { OpError, type Op } from './op.ts';
import { findNamedPix } from './pix-reference.ts';
import type { InspectedPix } from './pix-repository.ts';

/** The formats that providers of this family post; see `provider/webhook-events.ts`. */
export const webhookShapes = ['flat', 'entity', 'request-body', 'movement', 'bacen'] as const;

export type WebhookShape = (typeof webhookShapes)[number];

export interface WebhookComposeInput {
  readonly transactionId: string;
  readonly status: 'COMPLETED' | 'FAILED';
  readonly shape: WebhookShape;
  /** Composes the webhook of a refund of this amount in reais, a decimal, instead. */
  readonly refund?: string;
}

/**
 * Composes a webhook without posting or storing it. The command posts it, except in production.
 * @throws OpError for a webhook that no provider would post.
 */
export const composeWebhook: Op<WebhookComposeInput, { readonly payload: unknown }> = {
  async run(context, { transactionId, status, shape, refund }) {
    const now = context.clock.now();
    const row = await findNamedPix(context, transactionId);
    if (refund !== undefined) return { payload: composeRefund(context, row, refund) };
    const refusal = findRefusal(row, status, shape);
    if (refusal !== null) throw new OpError('REFUSED', refusal);
    const isCharge = row.operation === 'CHARGE';
    if (isCharge && status === 'FAILED') return { payload: expired(row, now) };
    const paidBy = isCharge ? newEndToEndId(context.config.provider.ispb, now) : null;
    const endToEnd = row.endToEnd ?? paidBy;
    return { payload: shapes[shape]({ row, status, endToEnd, now, ...readAmounts(row) }) };
  },
};

/** The webhook of a charge that has expired unpaid, in the one shape that providers use. */
function expired({ transactionIdentification, amount }: InspectedPix, now: Date) {
  const cents = centsFromDecimal(amount);
  return {
    event: 'OPENPIX:CHARGE_EXPIRED',
    charge: { value: cents, status: 'EXPIRED', correlationID: transactionIdentification },
    createdAt: now.toISOString(),
  };
}

/** The webhook of a refund of a completed transaction, with a new return id. */
function composeRefund({ clock, config }: LocalContext, row: InspectedPix, amount: string) {
  const cents = centsFromDecimal(amount);
  if (cents === null || cents < 1)
    throw new OpError('INVALID', 'the amount of --refund is not one in reais, such as 10.50');
  if (row.status !== 'COMPLETED' || row.endToEnd === null || isRefund(row.operation)) {
    throw new OpError('REFUSED', 'only a COMPLETED payment with an end-to-end id is refunded');
  }
  const now = clock.now();
  return {
    event: row.operation === 'SEND' ? 'PIX_REFUND_IN' : 'PIX_REFUND_OUT',
    endToEnd: row.endToEnd,
    returnId: newReturnId(config.provider.ispb, now),
    status: 'CONFIRMED',
    amount: numberFromCents(cents),
    createdAt: now.toISOString(),
  };
}

function findRefusal(
  { operation, endToEnd }: InspectedPix,
  status: 'COMPLETED' | 'FAILED',
  shape: WebhookShape,
): string | null {
  if (operation === 'RECEIVED') return 'a received Pix already has its webhook';
  if (isRefund(operation)) return 'a refund already has its webhook';
  if (operation === 'SEND' && shape === 'bacen') return 'this shape reports received Pix only';
  const isNamed = operation === 'CHARGE' || endToEnd !== null;
  return isNamed ? null : 'it has no end-to-end id: no payment can have been sent';
}

interface WebhookContent {
  readonly row: InspectedPix;
  readonly status: 'COMPLETED' | 'FAILED';
  readonly endToEnd: string | null;
  readonly now: Date;
  readonly reais: number;
  readonly cents: number;
}

function readAmounts({ amount }: InspectedPix): Pick<WebhookContent, 'reais' | 'cents'> {
  const cents = centsFromDecimal(amount) ?? 0;
  return { cents, reais: numberFromCents(cents) };
}

/** The provider's code for a QR code that the receiver's bank refused. */
const error = { code: 'BE17' };

const failure = ({ status }: WebhookContent) => status === 'FAILED' && { error };

const statusWord = ({ status }: WebhookContent): string =>
  status === 'COMPLETED' ? 'CONFIRMED' : 'ERROR';

const isCharge = ({ row }: WebhookContent): boolean => row.operation === 'CHARGE';

const transactionName = (content: WebhookContent) =>
  isCharge(content)
    ? { transactionIdentification: content.row.transactionIdentification }
    : { clientRequestId: content.row.idempotencyKey };

const shapes: Readonly<Record<WebhookShape, (content: WebhookContent) => unknown>> = {
  flat: (content) => ({
    event: isCharge(content) ? 'PIX_RECEIVED' : 'PIX_PAYMENT_OUT',
    endToEnd: content.endToEnd,
    ...transactionName(content),
    status: statusWord(content),
    amount: content.reais,
    ...failure(content),
    createdAt: content.now.toISOString(),
  }),
  entity: (content) => ({
    entity: isCharge(content) ? 'pix-payment-in' : 'pix-payment-out',
    createTimestamp: content.now.toISOString(),
    status: statusWord(content),
    body: {
      endToEndId: content.endToEnd,
      ...(isCharge(content)
        ? { txid: content.row.transactionIdentification }
        : { clientCode: content.row.idempotencyKey }),
      amount: content.reais,
      ...failure(content),
    },
  }),
  'request-body': (content) => ({
    RequestBody: {
      TransactionType: isCharge(content) ? 'RECEIVEPIX' : 'PAYMENT',
      EndToEndId: content.endToEnd,
      ...(isCharge(content)
        ? { TransactionIdentification: content.row.transactionIdentification }
        : { ClientCode: content.row.idempotencyKey }),
      Amount: content.reais,
      StatusCode: {
        StatusId: content.status === 'COMPLETED' ? 2 : 3,
        Description: statusWord(content),
      },
    },
  }),
  movement: (content) => ({
    event: movementEvent(content),
    payment: {
      value: content.cents,
      correlationID: isCharge(content)
        ? content.row.transactionIdentification
        : content.row.idempotencyKey,
    },
    transaction: { endToEndId: content.endToEnd },
  }),
  bacen: ({ row, endToEnd, now }) => ({
    pix: [
      {
        endToEndId: endToEnd,
        txid: row.transactionIdentification,
        valor: row.amount,
        horario: now.toISOString(),
      },
    ],
  }),
};

function movementEvent(content: WebhookContent): string {
  if (isCharge(content)) return 'OPENPIX:CHARGE_COMPLETED';
  return content.status === 'COMPLETED' ? 'OPENPIX:MOVEMENT_CONFIRMED' : 'OPENPIX:MOVEMENT_FAILED';
}
