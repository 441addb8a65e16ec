/** Reads the PIX keys of a list of the provider. */
import { normalisePixKey } from '../domain/pix-key.ts';
import { entryStatusNames, readFields, firstId, isObject, findValues } from './wire-reading.ts';
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
  const isRegistered = findValues(entryStatusNames, [fields]).every(
    (status) => typeof status === 'string' && registered.test(status),
  );
  return isRegistered ? [normalisePixKey(key).key] : [];
}
