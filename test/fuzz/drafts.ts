/** Draft requests: a legal one for each operation, from the contract's examples. */
import type { OperationContract } from '../../src/contract/contract.ts';
import { encodeStaticBrCode } from '../../src/provider/sandbox/bank/br-code.ts';
import { cpfCheckDigits } from '../../src/domain/tax-id.ts';
import { documentedBody } from '../api/http/hostile-bodies.ts';
import type { Chance } from '../simulation/chance.ts';
import { makePdf } from '../support/documents.ts';
import { fieldPart, filePart, formType, makeForm, type Part } from '../support/forms.ts';
import type { Ending } from './line.ts';

export type Json = Record<string, unknown>;

/** The data of a customer, for requests that name existing data. */
export interface Customer {
  readonly email: string;
  readonly password: string;
  token: string;
  readonly transactions: string[];
  readonly endToEnds: string[];
  readonly applications: string[];
  readonly keys: string[];
}

/** A request that mutations change before it is sent. */
export interface Draft {
  readonly operation: OperationContract;
  method: string;
  target: string;
  headers: [name: string, value: string][];
  /** The JSON value of the body, until a mutation replaces the bytes of the body. */
  json: unknown;
  parts: Part[] | null;
  raw: Buffer | null;
  /** The announced minus the sent length of the body in bytes; null: no length is announced. */
  lengthOff: number | null;
  ending: Ending;
  /** Whether path and method still match the operation. */
  isRouted: boolean;
  /** Whether every response except a refusal is a defect. */
  isForged: boolean;
  readonly mutations: string[];
}

export interface DraftOptions {
  readonly document: Json;
  readonly operation: OperationContract;
  readonly customer: Customer;
  readonly chance: Chance;
  /** Makes its keys and e-mails unique. */
  readonly nonce: string;
}

/** Keys with a special meaning for the bank are rare: each makes its breaker open sooner. */
const payees = ['bruno@example.com', '+5511987654321', '11144477735', '12ABC34501DE35'] as const;
const troubles = ['notfound@ponte.test', 'reject@ponte.test', 'lost@ponte.test'] as const;

const words = ['CONFIRMED', 'FAILED', 'PROCESSING', 'COMPLETED', 'REVERSED', 'nonsense'] as const;

/** @returns a valid request. */
export function legalDraft(options: DraftOptions): Draft {
  const { operation, customer, nonce } = options;
  const { body, access, headerParameters } = operation;
  const headers: Draft['headers'] = [['Host', '127.0.0.1']];
  if (access === 'token') headers.push(['Authorization', `Bearer ${customer.token}`]);
  if (headerParameters.parameters.some(({ name }) => name === 'Idempotency-Key')) {
    headers.push(['Idempotency-Key', nonce]);
  }
  if (access === 'secret') headers.push(['X-Webhook-Secret', webhookSecret]);
  if (body) headers.push(['Content-Type', body.form ? formType : 'application/json']);
  return {
    operation,
    method: operation.method,
    target: operation.path.replaceAll(/\{(\w+)\}/g, (_all, name: string) =>
      parameter(name, options),
    ),
    headers,
    json: body && !body.form ? legalBody(options) : undefined,
    parts: body?.form ? [fieldPart('1'), filePart(makePdf(nonce).toString('latin1'))] : null,
    raw: null,
    lengthOff: 0,
    ending: 'keep',
    isRouted: true,
    isForged: false,
    mutations: [],
  };
}

export const webhookSecret = 'fuzz-webhook-secret-of-32-characters';

/** One of the latest mostly, or an unknown one. */
function one(of: readonly string[], chance: Chance, otherwise: string): string {
  return of[chance.below(of.length + 1)] ?? otherwise;
}

function parameter(name: string, { customer, chance }: DraftOptions): string {
  const nobodys = '3f0c1f8e-5d0b-4b5c-9a51-0f6f3c1f2a77';
  if (name === 'transactionId') return one(customer.transactions, chance, nobodys);
  if (name === 'applicationId') return one(customer.applications, chance, nobodys);
  return chance.pick(['01310100', '01310-100', '69900-970', '99999999']);
}

function legalBody(options: DraftOptions): unknown {
  const { operation, customer, chance, nonce } = options;
  const { example } = documentedBody(options.document, operation.id);
  const digits = String(100_000_000 + (hash(nonce) % 800_000_000));
  const person = { email: `${nonce}@example.com`, document: digits + cpfCheckDigits(digits) };
  const amount = chance.between(1, 5_000) / 100;
  switch (operation.id) {
    case 'login':
      return { email: customer.email, password: customer.password };
    case 'sendPix': {
      const payee = chance.happens(0.02) ? chance.pick(troubles) : chance.pick(payees);
      if (chance.happens(0.8)) return { pix_key: payee, amount, description: 'fuzz' };
      const code = encodeStaticBrCode({ key: payee, receiverName: 'Ana', city: 'Recife' });
      return { copy_paste: code, amount };
    }
    case 'createCharge':
      return { ...(example as Json), type: chance.pick(['dynamic', 'static']), amount };
    case 'createPixKey':
      return chance.happens(0.5)
        ? { key_type: 'EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO' }
        : { key_type: 'E_MAIL', email: person.email };
    case 'deletePixKey':
      return { key: one(customer.keys, chance, person.email) };
    case 'startOnboarding':
    case 'registerPf':
      return { ...(example as Json), ...person };
    case 'receiveProviderWebhook':
      return event({ chance, amount, endToEnd: one(customer.endToEnds, chance, `E${nonce}`) });
    default:
      return example;
  }
}

function event(of: { chance: Chance; amount: number; endToEnd: string }): unknown {
  const { chance, amount, endToEnd } = of;
  const item = {
    event: chance.pick(['PIX_PAYMENT', 'PIX_RECEIVED', 'pix', 'MOVEMENT_FAILED']),
    endToEndId: endToEnd,
    status: chance.pick(words),
    ...(chance.happens(0.3) && { amount }),
  };
  return chance.pick<unknown>([item, [item, item], { pix: [item] }, { data: { ...item } }]);
}

/** FNV-1a of 32 bits. */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193) >>> 0;
  return value;
}

/** @returns the bytes to send. */
export function serializeDraft(draft: Draft): Buffer {
  const { method, target, headers, lengthOff } = draft;
  const body = serializeBody(draft);
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  if (body && lengthOff !== null) lines.push(`Content-Length: ${body.length + lengthOff}`);
  const head = [`${method} ${target} HTTP/1.1`, ...lines, '', ''].join('\r\n');
  return Buffer.concat([Buffer.from(head, 'latin1'), body ?? Buffer.alloc(0)]);
}

/** The body after the mutations; null without one. */
export function serializeBody({ raw, parts, json }: Draft): Buffer | null {
  if (raw) return raw;
  if (parts) return makeForm(...parts);
  return json === undefined ? null : Buffer.from(JSON.stringify(json));
}
