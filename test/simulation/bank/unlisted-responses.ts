/**
 * Responses to a payment in forms that are in no list: texts, lists, other fields, other codes,
 * pages of gateways. None of them proves anything, because each also answers payments that were
 * executed.
 */
import type { Chance } from '../chance.ts';
import { json, text, type BankResponse, type PaymentRequest } from './responses.ts';

type Form = (request: PaymentRequest) => BankResponse;

const unclear = 'Não foi possível determinar o resultado da interação';

/** Refusals without a code at its declared place, or with one that is not listed. */
const refusals: readonly Form[] = [
  () => text(422, 'Duplicate clientRequestId', 'text/plain'),
  () => json(422, 'Pagamento duplicado'),
  () => json(422, [{ code: 'AC03' }]),
  () => text(400, '<?xml version="1.0"?><error><code>AC03</code></error>', 'application/xml'),
  () => json(422, { violations: [{ field: 'clientRequestId', message: 'must be unique' }] }),
  () => json(422, { msg: 'EndToEndId duplicado' }),
  () => json(400, { clientRequestId: ['already exists'] }),
  () => json(422, { message: unclear }),
  () => json(422, { code: 'PBE324', message: 'Pagamento em processamento' }),
  () => json(400, { errors: [{ code: 'AC07', message: 'Conta encerrada' }] }),
  () => json(422, { code: null }),
  () => json(422, { code: 'AM05' }),
  () => json(422, { code: 'AC03', error: { code: 'AM05' } }),
  () => json(400, { code: 'XK-9', message: 'Operação não concluída' }),
];

/**
 * Listed codes in a status with which the provider does not refuse payments, or beside a sign of
 * success, and other statuses.
 */
const otherStatuses: readonly Form[] = [
  () => json(422, { success: true, error: { code: 'INSUFFICIENT_FUNDS' } }),
  () => json(425, { error: { code: 'BE01' } }),
  () => json(404, { code: 'AC03', payment: { status: 'CONFIRMED' } }),
  () => json(409, { code: 'AC03' }),
  () => json(423, { code: 'IN_PROGRESS' }),
  () => json(429, { message: 'already in progress' }),
  () => json(500, { code: 'AC03' }),
];

const gateways: readonly Form[] = [400, 403, 404, 405, 423, 429].map(
  (status) => () => text(status, '<html><h1>blocked by the gateway</h1></html>'),
);

/** A success that reports an error whose end is open. */
const receipts: readonly Form[] = [
  (request) => json(200, { ...failed(request), message: 'Tempo esgotado; o resultado virá' }),
  (request) => json(200, { ...failed(request), error: { code: 'E998' } }),
  (request) => json(201, { data: failed(request), code: 'PBE324' }),
];

function failed({ endToEnd, clientRequestId }: PaymentRequest) {
  return { id: 'p1', status: 'ERROR', endToEnd, clientRequestId };
}

const kinds = [refusals, otherStatuses, gateways, receipts] as const;

/** @returns a response in one of these forms. */
export function unlistedResponse(chance: Chance, request: PaymentRequest): BankResponse {
  const forms = chance.pick([...kinds]);
  const form = forms[chance.below(forms.length)];
  if (!form) throw new Error('no form to choose from');
  const response = form(request);
  const { 'content-type': type } = response.headers;
  return { ...response, summary: `unlisted ${response.status} ${type}` };
}
