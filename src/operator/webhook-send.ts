/** `webhook send`: what the provider would post about a stored transaction. */
import { inspectPix, type InspectedPixRow } from '../db/queries/inspect-pix.ts';
import { newEndToEndId } from '../domain/end-to-end-id.ts';
import { centsFromDecimal, numberFromCents } from '../domain/money.ts';
import { isUuid } from '../domain/uuid.ts';
import { OpError, type Op } from './op.ts';

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
  async run({ db, clock, config }, { transactionId, status, shape }) {
    const now = clock.now();
    const [row] = isUuid(transactionId)
      ? await db.query<InspectedPixRow>(inspectPix, [transactionId, now])
      : [];
    if (!row) throw new OpError('NOT_FOUND', `there is no transaction ${transactionId}`);
    const refusal = refusalOf(row, status, shape);
    if (refusal !== null) throw new OpError('REFUSED', refusal);
    const isCharge = row.operation === 'CHARGE';
    const paidBy = isCharge ? newEndToEndId(config.provider.ispb, now) : null;
    const endToEnd = row.end_to_end ?? paidBy;
    return { payload: shapes[shape]({ row, status, endToEnd, now, ...amountsOf(row) }) };
  },
};

function refusalOf(
  { operation, end_to_end: endToEnd }: InspectedPixRow,
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
  readonly row: InspectedPixRow;
  readonly status: 'COMPLETED' | 'FAILED';
  readonly endToEnd: string | null;
  readonly now: Date;
  readonly reais: number;
  readonly cents: number;
}

function amountsOf({ amount }: InspectedPixRow): Pick<Told, 'reais' | 'cents'> {
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
    ? { transactionIdentification: told.row.transaction_identification }
    : { clientRequestId: told.row.idempotency_key };

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
        ? { txid: told.row.transaction_identification }
        : { clientCode: told.row.idempotency_key }),
      amount: told.reais,
      ...failure(told),
    },
  }),
  'request-body': (told) => ({
    RequestBody: {
      TransactionType: isCharge(told) ? 'RECEIVEPIX' : 'PAYMENT',
      EndToEndId: told.endToEnd,
      ...(isCharge(told)
        ? { TransactionIdentification: told.row.transaction_identification }
        : { ClientCode: told.row.idempotency_key }),
      Amount: told.reais,
      StatusCode: { StatusId: told.status === 'COMPLETED' ? 2 : 3, Description: wordOf(told) },
    },
  }),
  movement: (told) => ({
    event: movementWord(told),
    payment: {
      value: told.cents,
      correlationID: isCharge(told)
        ? told.row.transaction_identification
        : told.row.idempotency_key,
    },
    transaction: { endToEndId: told.endToEnd },
  }),
  bacen: ({ row, endToEnd, now }) => ({
    pix: [
      {
        endToEndId: endToEnd,
        txid: row.transaction_identification,
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
