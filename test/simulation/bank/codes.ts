/**
 * The charges of shops at other institutions, which dynamic codes ask for. A charge may change at
 * any time: its payee, its amount, its end. The bank does not check whether it was paid before: a
 * second payment of a charge is executed, and the oracle sees it.
 */
import { crc16Ccitt } from '../../../src/domain/br-code.ts';
import { Chance } from '../chance.ts';
import type { StoredCustomer } from '../store.ts';
import type { KeyOwner } from './directory.ts';
import type { Ids } from './ids.ts';
import type { Ledger } from './ledger.ts';

/** A charge behind a dynamic code. */
export interface Code {
  readonly name: string;
  readonly text: string;
  readonly url: string;
  readonly txid: string;
  readonly key: string;
  /** How a payment of it ends. */
  readonly end: 'completed' | 'reversed' | 'refused';
  /** Null: the payer chooses the amount. */
  readonly amountCents: number | null;
  readonly isChangeable: boolean;
  readonly maxCents: number | null;
  /** Times after the beginning of the history, in milliseconds; null: never. */
  readonly changes: Readonly<Record<'owner' | 'amount' | 'end', number | null>>;
  /** How the charge ends, if not by a payment. */
  readonly ending: 'EXPIRADA' | 'REMOVIDA_PELO_USUARIO_RECEBEDOR';
}

/** What the bank has said about a code, under an end-to-end id. */
export interface CodeAnswer {
  readonly customer: StoredCustomer;
  readonly code: Code;
  readonly owner: KeyOwner;
  readonly amountCents: number | null;
}

const shops = [
  { name: 'Loja Azul', document: '11222333000181', ispb: '60701190' },
  { name: 'Loja Verde', document: '11444777000161', ispb: '60701190' },
] as const satisfies KeyOwner[];

/** One seed in eight has codes; the mutants are detected by others. */
const share = { of: 8, rest: 4 } as const;

const latestChangeMs = 20 * 60_000;

/** Draws the codes of a seed, from a separate random sequence; none in most. */
export function drawCodes(seed: number, isForced: boolean): readonly Code[] {
  if (!isForced && seed % share.of !== share.rest) return [];
  const chance = new Chance(seed + 5);
  return Array.from({ length: chance.between(1, 3) }, (_, index) => drawCode(chance, index + 1));
}

function drawCode(chance: Chance, nth: number): Code {
  const url = `pix.loja.test/qr/${nth}`;
  const atSomeTime = (likelihood: number): number | null =>
    chance.happens(likelihood) ? chance.below(latestChangeMs) : null;
  const isOpen = chance.happens(0.2);
  return {
    name: `code${nth}`,
    text: writeCode(url),
    url,
    txid: `shop${nth}`.padEnd(26, '0'),
    key: `loja${nth}@example.com`,
    end: chance.pick(['completed', 'completed', 'completed', 'reversed', 'refused']),
    amountCents: isOpen ? null : chance.pick([1_000, 2_550, 90_000]),
    isChangeable: isOpen || chance.happens(0.3),
    maxCents: chance.pick([null, 100_000]),
    changes: { owner: atSomeTime(0.2), amount: atSomeTime(0.3), end: atSomeTime(0.3) },
    ending: chance.pick(['EXPIRADA', 'REMOVIDA_PELO_USUARIO_RECEBEDOR']),
  };
}

/** Writes a dynamic code (BCB, Manual de Padrões para Iniciação do Pix). */
function writeCode(url: string): string {
  const field = (tag: string, value: string): string =>
    `${tag}${String(value.length).padStart(2, '0')}${value}`;
  const account = field('00', 'br.gov.bcb.pix') + field('25', url);
  const text =
    `000201010212${field('26', account)}52040000530398658` +
    '02BR5904LOJA6006RECIFE62070503***6304';
  return text + crc16Ccitt(text);
}

export interface CodesOptions {
  readonly codes: readonly Code[];
  readonly ledger: Ledger;
  readonly ids: Ids;
  readonly nowMs: () => number;
}

export class Codes {
  /** By end-to-end id. */
  readonly answers = new Map<string, CodeAnswer>();
  readonly #options: CodesOptions;
  readonly #beganMs: number;

  constructor(options: CodesOptions) {
    this.#options = options;
    this.#beganMs = options.nowMs();
  }

  get all(): readonly Code[] {
    return this.#options.codes;
  }

  withText(text: unknown): Code | null {
    return this.all.find((code) => code.text === text) ?? null;
  }

  withKey(key: string): Code | null {
    return this.all.find((code) => code.key === key) ?? null;
  }

  /** Whether a charge was paid, has ended or has changed by now, or may have. */
  hasChanged(code: Code): boolean {
    return (['owner', 'amount', 'end'] as const).some((what) => this.#isPast(code, what));
  }

  /** What the bank says of a charge now; a payment counts when it is completed. */
  read(customer: StoredCustomer, code: Code): object {
    const { ids, nowMs, ledger } = this.#options;
    const owner = this.#isPast(code, 'owner') ? shops[1] : shops[0];
    const extraCents = this.#isPast(code, 'amount') ? 150 : 0;
    const amountCents = code.amountCents === null ? null : code.amountCents + extraCents;
    const isPaid = ledger.payments.some(
      ({ txid, state }) => txid === code.txid && state === 'completed',
    );
    const isOver = this.#isPast(code, 'end');
    const open = isOver ? code.ending : 'ATIVA';
    const status = isPaid ? 'CONCLUIDA' : open;
    const said = {
      status,
      key: code.key,
      transactionIdentification: code.txid,
      ...(amountCents !== null && { amount: amountCents / 100 }),
      amountChangeable: code.isChangeable,
      ...(code.maxCents !== null && { maximumAmount: code.maxCents / 100 }),
      owner: { name: owner.name, taxIdNumber: owner.document },
      account: { participant: owner.ispb },
    };
    if (status !== 'ATIVA') return said;
    const endToEnd = ids.endToEnd('11165756', nowMs());
    ledger.issued.set(endToEnd, { customer, key: code.key, owner });
    this.answers.set(endToEnd, { customer, code, owner, amountCents });
    return { ...said, endToEnd };
  }

  #isPast({ changes }: Code, what: keyof Code['changes']): boolean {
    const afterMs = changes[what];
    return afterMs !== null && this.#options.nowMs() >= this.#beganMs + afterMs;
  }
}

/** Whether an amount pays a charge of which the bank has said this. */
export function isAccepted({ code, amountCents }: CodeAnswer, cents: number): boolean {
  if (!code.isChangeable) return cents === amountCents;
  return cents <= (code.maxCents ?? cents);
}
