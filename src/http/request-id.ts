/** The id by which a request is found again in both sides' logs. */
import { randomUUID } from 'node:crypto';
import { taxIdKind } from '../domain/tax-id.ts';

const USABLE_ID = /^[\x21-\x7e]{1,128}$/;

/** The caller's id when it is 1 to 128 visible ASCII characters, otherwise a new UUID. */
export function requestId(given: string | string[] | undefined): string {
  return typeof given === 'string' && USABLE_ID.test(given) ? given : randomUUID();
}

/**
 * The id under which a request is logged, and which the provider is told: the answer's own, unless
 * that holds an e-mail, a phone or a tax id. Some apps make ids of what they know of a person.
 */
export function loggableId(id: string): string {
  return looksPersonal(id) ? randomUUID() : id;
}

function looksPersonal(id: string): boolean {
  if (/@|%40|\+\d{8}/.test(id)) return true;
  return [...id.matchAll(TAX_ID)].some(([text]) => taxIdKind(text) !== null);
}

/** The form of a CPF or CNPJ, with or without punctuation; its check digits decide. */
const TAX_ID =
  /(?<!\d)(?:\d{3}\.?\d{3}\.?\d{3}[-.]?\d{2}|\d{2}\.?\d{3}\.?\d{3}[/.]?\d{4}[-.]?\d{2})(?!\d)/g;
