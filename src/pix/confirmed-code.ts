/**
 * The look-up of a dynamic code that the payer has confirmed, as an opaque id that the app sends
 * back. It binds the user, the address of the code, the charge that was found there, its payee, and
 * the amounts that pay it. Like the look-up of a key it is sealed for the user and stored nowhere.
 */
import type { LocalContext } from '../context/context.ts';
import { ownerIdentity, maskedOwner } from '../domain/key-owner.ts';
import { classifyPayee } from '../domain/payee-limits.ts';
import type { CodeAmounts, CodeCharge, CodeState } from '../provider/provider.ts';
import { sha256 } from '../security/digests.ts';
import { freshForMs, openSealed, type ConfirmedLookUp, type LookUp } from './confirmed-payee.ts';

/** A charge, as far as it decides whether and how it is paid. */
export interface CodeTerms {
  readonly state: CodeState;
  /** The key that the charge is paid to, in the format of DICT. */
  readonly key: string;
  readonly txid: string;
  readonly amounts: CodeAmounts;
  /** In milliseconds since 1970; null: the charge does not expire by itself. */
  readonly endsMs: number | null;
}

/** The look-up of a dynamic code. */
export interface CodeLookUp extends Omit<LookUp, 'endToEnd'> {
  /** A charge that cannot be paid may have none. */
  readonly endToEnd: string | null;
  readonly terms: CodeTerms;
}

/** A look-up of a dynamic code that can be paid, and that the payer has confirmed. */
export interface ConfirmedCode extends ConfirmedLookUp {
  readonly terms: CodeTerms;
  /** The text of the code. */
  readonly text: string;
  /** The digest of its address. */
  readonly address: string;
  /** Of the charge behind its address: equal for each reading of it. */
  readonly digest: Buffer;
  /** Of the charge of its payee: equal for two addresses of it. Null: the payee is not known. */
  readonly payeeDigest: Buffer | null;
  /** Of the charge of its key: equal for two addresses, however the bank describes the payee. */
  readonly keyDigest: Buffer;
  /** When the payee's institution was asked. */
  readonly askedAt: Date;
}

/** A user, and the address in a dynamic code. */
interface CodeOwner {
  readonly userId: number;
  readonly url: string;
}

/** The sealed content; version 1.2.0 has no class of the payee. */
interface Sealed extends Omit<CodeLookUp, 'payeeClass'>, Partial<Pick<CodeLookUp, 'payeeClass'>> {
  readonly address: string;
  readonly askedMs: number;
}

/**
 * @param payerDocument of the paying account.
 * @returns the result of a look-up, from the response of the provider.
 */
export function readCodeLookUp(charge: CodeCharge, payerDocument: string): CodeLookUp {
  const { endToEnd, state, key, txid, amounts, expiresAt } = charge;
  const identity = ownerIdentity(charge);
  return {
    endToEnd,
    owner: maskedOwner(charge),
    // The name in it may be long.
    identity: identity && sha256(identity).toString('base64url'),
    payeeClass: classifyPayee(charge.document, payerDocument),
    terms: { state, key, txid, amounts, endsMs: expiresAt?.getTime() ?? null },
  };
}

/** @returns the id of a look-up, and the time until which a payment can use it. */
export function sealCode(
  { sealer, clock }: LocalContext,
  { userId, url }: CodeOwner,
  lookUp: CodeLookUp,
): { readonly lookupId: string; readonly expiresAt: Date } {
  const askedMs = clock.now().getTime();
  const content: Sealed = { ...lookUp, address: digestAddress(url), askedMs };
  const sealed = sealer.seal(JSON.stringify(content), sealingOwner(userId));
  const { endsMs } = lookUp.terms;
  const expiresMs = Math.min(askedMs + freshForMs, endsMs ?? Infinity);
  return { lookupId: sealed.toString('base64url'), expiresAt: new Date(expiresMs) };
}

/** @returns null when the id belongs to another user or code, or is invalid. */
export function openCode(
  { sealer, clock }: LocalContext,
  { userId, url }: CodeOwner,
  lookupId: string,
): Omit<ConfirmedCode, 'text'> | null {
  const opened = openSealed(sealer, lookupId, sealingOwner(userId));
  if (opened === null) return null;
  const { address, askedMs, endToEnd, payeeClass = 'person', ...lookUp } = opened as Sealed;
  if (address !== digestAddress(url)) return null;
  const { identity, terms } = lookUp;
  const isFresh = endToEnd !== null && clock.now().getTime() < askedMs + freshForMs;
  return {
    ...lookUp,
    payeeClass,
    // Without an id the look-up is not fresh, so that no payment has this one.
    endToEnd: endToEnd ?? '',
    isFresh,
    address,
    digest: digestCharge([address], terms),
    payeeDigest: identity === null ? null : digestCharge(['payee', identity], terms),
    keyDigest: digestCharge(['key', terms.key], terms),
    askedAt: new Date(askedMs),
  };
}

/**
 * A digest by which a charge is paid once. An address alone is not enough: the payee may put one
 * charge after the other behind it, as behind a printed code at a till, and one charge behind two.
 * Banks write a txid in either case.
 */
function digestCharge(where: readonly string[], { txid }: Pick<CodeTerms, 'txid'>): Buffer {
  return sha256(JSON.stringify([...where, txid.toLowerCase()]));
}

function digestAddress(url: string): string {
  return sha256(normaliseUrl(url)).toString('base64url');
}

/** The name of a host is the same in capitals, and every address is of `https`. */
function normaliseUrl(url: string): string {
  const [, host = '', path = ''] = /^(?:https:\/\/)?([^/]*)(.*)$/is.exec(url) ?? [];
  return host.toLowerCase() + path;
}

/** Differs from that of keys: neither opens as the other. */
function sealingOwner(userId: number): string {
  return `code-look-up:${userId}`;
}
