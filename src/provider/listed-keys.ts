/** Reads the PIX keys of a list of the provider. */
import { normalisePixKey } from '../domain/pix-key.ts';
import {
  entryStatusNames,
  findObjects,
  findValues,
  firstId,
  isObject,
  readFields,
  type Fields,
} from './wire-reading.ts';
import type { ProviderPayload } from './provider.ts';

const listNames = ['keys', 'pixkeys', 'chaves', 'items', 'list', 'data', 'entries'];
const keyNames = ['key', 'pixkey', 'chave'];

/** A key under a claim or in creation does not belong to the account. */
const registered = /^(?:ACTIVE|ATIVA?|REGISTERED|CONFIRMED|OWNED|OK)$/i;

/** The levels of lists and wrappers to search; providers use two. */
const searchDepth = 4;

/**
 * Returns the listed keys in the directory's format. It omits entries that are unreadable or not
 * registered.
 */
export function listedKeys(payload: ProviderPayload): string[] {
  return [...new Set(keysIn(payload, searchDepth))];
}

/**
 * Returns the key that the response to a creation reports as registered, if it does.
 * @param requested the requested key in any format; it counts if the response contains no key.
 */
export function createdKeys(payload: ProviderPayload, requested: string | null): string[] {
  const top = readFields(payload);
  const places = [top, ...findObjects(top, 'data', 'result', 'entry')];
  const key = firstId(findValues(keyNames, places)) ?? requested;
  return key !== null && isRegistered(places) ? [normalisePixKey(key).key] : [];
}

function keysIn(value: unknown, depth: number): string[] {
  if (depth === 0) return [];
  if (Array.isArray(value))
    return value.flatMap((entry) => readKey(entry) ?? keysIn(entry, depth - 1));
  if (!isObject(value)) return [];
  return findValues(listNames, [readFields(value)]).flatMap((inner) => keysIn(inner, depth - 1));
}

function readKey(entry: unknown): string[] | null {
  const fields = readFields(entry);
  const key = typeof entry === 'string' ? entry : firstId(findValues(keyNames, [fields]));
  if (key === null) return null;
  return isRegistered([fields]) ? [normalisePixKey(key).key] : [];
}

function isRegistered(places: readonly Fields[]): boolean {
  return findValues(entryStatusNames, places).every(
    (status) => typeof status === 'string' && registered.test(status),
  );
}
