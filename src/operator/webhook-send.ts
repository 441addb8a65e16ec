/** `webhook send`: what the provider would post about a stored transaction. */
import { newEndToEndId } from '../domain/end-to-end-id.ts';
import { centsFromDecimal, numberFromCents } from '../domain/money.ts';
import { OpError, type Op } from './op.ts';
import { findPix, type InspectedPix } from './pix-repository.ts';

/** The shapes that providers of this family post; see `provider/webhook-events.ts`. */
export const webhookShapes = ['flat', 'entity', 'request-body', 'movement', 'bacen'] as const;

export type WebhookShape = (typeof webhookShapes)[number];

export interface WebhookComposeInput {
  readonly transactionId: string;
  readonly status: 'COMPLETED' | 'FAILED';
  readonly shape: WebhookShape;
}

/**
 * Composes a webhook; nothing is posted and nothing is stored. The command posts it, and refuses to
 * in production.
 * @throws OpError for what no provider would post.
 */
export const composeWebhook: Op<WebhookComposeInput, { readonly payload: unknown }> = {
  async run(context, { transactionId, status, shape }) {
    const now = context.clock.now();
    const row = await findPix(context, transactionId);
    if (!row) throw new OpError('NOT_FOUND', `there is no transaction ${transactionId}`);
    const refusal = refusalOf(row, status, shape);
    if (refusal !== null) throw new OpError('REFUSED', refusal);
    const isCharge = row.operation === 'CHARGE';
    const paidBy = isCharge ? newEndToEndId(context.config.provider.ispb, now) : null;
    const endToEnd = row.endToEnd ?? paidBy;
    return { payload: shapes[shape]({ row, status, endToEnd, now, ...amountsOf(row) }) };
  },
};

function refusalOf(
  { operation, endToEnd }: InspectedPix,
  status: 'COMPLETED' | 'FAILED',
  shape: WebhookShape,
): string | null {
  if (operation === 'RECEIVED') return 'a received PIX was told by a webhook already';
  if (operation === 'CHARGE' && status === 'FAILED') return 'no provider tells that nobody paid';
  if (operation === 'SEND' && shape === 'bacen') return 'this shape tells of a PIX that came in';
  const isNamed = operation === 'CHARGE' || endToEnd !== null;
  return isNamed ? null : 'it has no end-to-end id yet: no payment can have left';
}

interface Told {
  readonly row: InspectedPix;
  readonly status: 'COMPLETED' | 'FAILED';
  readonly endToEnd: string | null;
  readonly now: Date;
  readonly reais: number;
  readonly cents: number;
}

function amountsOf({ amount }: InspectedPix): Pick<Told, 'reais' | 'cents'> {
  const cents = centsFromDecimal(amount) ?? 0;
  return { cents, reais: numberFromCents(cents) };
}

/** The receiver's bank refused the QR Code: a failure's code in the provider's words. */
const error = { code: 'BE17' };

const failure = ({ status }: Told) => status === 'FAILED' && { error };

const wordOf = ({ status }: Told): string => (status === 'COMPLETED' ? 'CONFIRMED' : 'ERROR');

const isCharge = ({ row }: Told): boolean => row.operation === 'CHARGE';

const nameOf = (told: Told) =>
  isCharge(told)
    ? { transactionIdentification: told.row.transactionIdentification }
    : { clientRequestId: told.row.idempotencyKey };

const shapes: Readonly<Record<WebhookShape, (told: Told) => unknown>> = {
  flat: (told) => ({
    event: isCharge(told) ? 'PIX_RECEIVED' : 'PIX_PAYMENT_OUT',
    endToEnd: told.endToEnd,
    ...nameOf(told),
    status: wordOf(told),
    amount: told.reais,
    ...failure(told),
    createdAt: told.now.toISOString(),
  }),
  entity: (told) => ({
    entity: isCharge(told) ? 'pix-payment-in' : 'pix-payment-out',
    createTimestamp: told.now.toISOString(),
    status: wordOf(told),
    body: {
      endToEndId: told.endToEnd,
      ...(isCharge(told)
        ? { txid: told.row.transactionIdentification }
        : { clientCode: told.row.idempotencyKey }),
      amount: told.reais,
      ...failure(told),
    },
  }),
  'request-body': (told) => ({
    RequestBody: {
      TransactionType: isCharge(told) ? 'RECEIVEPIX' : 'PAYMENT',
      EndToEndId: told.endToEnd,
      ...(isCharge(told)
        ? { TransactionIdentification: told.row.transactionIdentification }
        : { ClientCode: told.row.idempotencyKey }),
      Amount: told.reais,
      StatusCode: { StatusId: told.status === 'COMPLETED' ? 2 : 3, Description: wordOf(told) },
    },
  }),
  movement: (told) => ({
    event: movementWord(told),
    payment: {
      value: told.cents,
      correlationID: isCharge(told) ? told.row.transactionIdentification : told.row.idempotencyKey,
    },
    transaction: { endToEndId: told.endToEnd },
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

function movementWord(told: Told): string {
  if (isCharge(told)) return 'OPENPIX:CHARGE_COMPLETED';
  return told.status === 'COMPLETED' ? 'OPENPIX:MOVEMENT_CONFIRMED' : 'OPENPIX:MOVEMENT_FAILED';
}
