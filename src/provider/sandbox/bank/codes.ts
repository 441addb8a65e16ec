/**
 * The charges that dynamic codes ask for: those of the bank's own customers, and those of payees at
 * other banks, which a developer makes.
 */
import { randomUUID } from 'node:crypto';
import { maxAmountCents } from '../../../domain/money.ts';
import { newTransactionIdentification } from '../../../domain/pix.ts';
import type { CodeAmounts, CodeCharge, CodeState } from '../../provider.ts';
import { encodeDynamicBrCode } from './br-code.ts';
import type { Charges } from './charges.ts';
import type { BankParts } from './parts.ts';
import { type BankResponse, brokenRule, done } from './response.ts';
import type { Charge, ForeignCharge } from './rows.ts';

/** The bank of the payees of foreign charges: an ISPB that no participant has. */
const payeesIspb = '88888888';

const payee = { name: 'Loja de Teste', document: '11222333000181', ispb: payeesIspb } as const;

/** Where the bank reads a foreign charge; nothing listens there. */
const codeUrl = 'pix.loja.test/qr';

/** A charge as a developer wishes it; amounts in centavos. */
export interface NewCode {
  /** The key that the charge is paid to: a magic value has its effect; by default, the shop's. */
  readonly key?: string | undefined;
  /** By default 10.00 reais; null: the payer chooses the amount. */
  readonly amountCents?: number | null | undefined;
  readonly isChangeable?: boolean | undefined;
  readonly minCents?: number | undefined;
  readonly maxCents?: number | undefined;
  /** `yyyy-mm-dd`: a charge with a due date (cobv). */
  readonly dueDate?: string | undefined;
  readonly discountCents?: number | undefined;
  readonly interestCents?: number | undefined;
  readonly fineCents?: number | undefined;
  /** Without a due date; by default a day. */
  readonly lifetimeSeconds?: number | undefined;
  /** By default `payable`. */
  readonly state?: CodeState | undefined;
  readonly description?: string | undefined;
}

/** A charge that a developer has made. */
export interface MadeCode {
  readonly copyPaste: string;
  readonly txid: string;
}

/** How long a charge without a due date can be paid: the default of the central bank's API. */
const daySeconds = 86_400;

/** The charges of dynamic codes: made, read, and paid once. */
export class Codes {
  readonly #options: BankParts & { readonly charges: Charges };

  constructor(options: BankParts & { readonly charges: Charges }) {
    this.#options = options;
  }

  /** Makes a charge of a payee at another bank, with its dynamic code. */
  make(wish: NewCode): BankResponse<MadeCode> {
    const { state: saved, clock } = this.#options;
    if (!isPayableWish(wish)) return brokenRule('InvalidCode');
    const { state = 'payable', dueDate = null, amountCents = 1_000 } = wish;
    const txid = newTransactionIdentification();
    const nowMs = clock.now().getTime();
    const lifetimeMs = (wish.lifetimeSeconds ?? daySeconds) * 1_000;
    const endsMs = dueDate === null ? nowMs + lifetimeMs : null;
    const copyPaste = encode();
    saved.save({
      row: 'foreign_charge',
      txid,
      copyPaste,
      key: wish.key ?? 'loja@example.com',
      originalCents: amountCents,
      discountCents: wish.discountCents ?? 0,
      interestCents: wish.interestCents ?? 0,
      fineCents: wish.fineCents ?? 0,
      isChangeable: wish.isChangeable ?? amountCents === null,
      minCents: wish.minCents ?? null,
      maxCents: wish.maxCents ?? null,
      dueDate,
      expiresAtMs: state === 'expired' ? nowMs : endsMs,
      description: wish.description ?? null,
      state: state === 'paid' || state === 'removed' ? state : 'active',
    });
    return done({ copyPaste, txid });
  }

  /** Changes the state of a foreign charge. @returns whether there is one with the txid. */
  end(txid: string, state: 'paid' | 'removed' | 'expired'): boolean {
    const { state: saved, clock } = this.#options;
    const charge = saved.foreignCharges.get(txid);
    if (charge === undefined) return false;
    const expiresAtMs = clock.now().getTime();
    saved.save(state === 'expired' ? { ...charge, expiresAtMs } : { ...charge, state });
    return true;
  }

  /** Finds the charge of a code; null: no bank knows it. */
  find(text: string): Omit<CodeCharge, 'endToEnd'> | null {
    const { foreignCharges, charges } = this.#options.state;
    const foreign = [...foreignCharges.values()].find(({ copyPaste }) => copyPaste === text);
    if (foreign) return this.#viewForeign(foreign);
    const own = [...charges.values()].find(({ copyPaste }) => copyPaste === text);
    return own?.type === 'dynamic' ? this.#viewOwn(own) : null;
  }

  /** Whether a payment of an amount pays a charge now. */
  accepts(txid: string, amountCents: number): boolean {
    const { foreignCharges, charges } = this.#options.state;
    const text = foreignCharges.get(txid)?.copyPaste ?? charges.get(txid)?.copyPaste ?? '';
    const charge = this.find(text);
    return charge?.state === 'payable' && isAccepted(charge.amounts, amountCents);
  }

  /** @returns the customer who has made a charge; null: a payee at another bank. */
  customer(txid: string): string | null {
    return this.#options.state.charges.get(txid)?.email ?? null;
  }

  #viewForeign(charge: ForeignCharge): Omit<CodeCharge, 'endToEnd'> {
    const { originalCents, discountCents, interestCents, fineCents, expiresAtMs } = charge;
    const { key, txid, isChangeable, minCents, maxCents, dueDate, description } = charge;
    const changedCents = interestCents + fineCents - discountCents;
    const amountCents = originalCents === null ? null : originalCents + changedCents;
    return {
      ...payee,
      key,
      txid,
      state: this.#stateOf(charge),
      amounts: { amountCents, isChangeable, minCents, maxCents },
      originalCents,
      discountCents: discountCents || null,
      interestCents: interestCents || null,
      fineCents: fineCents || null,
      dueDate,
      expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs),
      description,
    };
  }

  #stateOf({ state, expiresAtMs }: ForeignCharge): CodeState {
    if (state !== 'active') return state;
    const nowMs = this.#options.clock.now().getTime();
    return expiresAtMs !== null && expiresAtMs <= nowMs ? 'expired' : 'payable';
  }

  #viewOwn({ email, order, atMs }: Charge): Omit<CodeCharge, 'endToEnd'> {
    const { accounts, ispb } = this.#options;
    const { document, name } = accounts.of(email);
    const { amountCents, transactionIdentification: txid } = order;
    return {
      name: name ?? order.receiverName,
      document,
      ispb,
      key: order.key,
      txid,
      state: this.#options.charges.stateOf(txid),
      amounts: { amountCents, isChangeable: false, minCents: null, maxCents: null },
      originalCents: amountCents,
      discountCents: null,
      interestCents: null,
      fineCents: null,
      dueDate: null,
      expiresAt: new Date(atMs + order.expirationSeconds * 1_000),
      description: order.description,
    };
  }
}

/** Whether every amount is one, and that of today too. */
function isPayableWish(wish: NewCode): boolean {
  const { amountCents = 1_000, minCents, maxCents } = wish;
  const { discountCents = 0, interestCents = 0, fineCents = 0 } = wish;
  const todayCents = (amountCents ?? 1) + interestCents + fineCents - discountCents;
  return [todayCents, minCents ?? 1, maxCents ?? 1].every(
    (cents) => Number.isSafeInteger(cents) && cents >= 1 && cents <= maxAmountCents,
  );
}

function isAccepted(amounts: CodeAmounts, cents: number): boolean {
  const { amountCents, isChangeable, minCents, maxCents } = amounts;
  if (!isChangeable) return cents === amountCents;
  return cents >= (minCents ?? 1) && cents <= (maxCents ?? cents);
}

/** The address says nothing: only the payee's bank knows its charge. */
function encode(): string {
  const url = `${codeUrl}/${randomUUID()}`;
  return encodeDynamicBrCode({ receiverName: payee.name, city: 'Sao Paulo', url, oneTime: true });
}
