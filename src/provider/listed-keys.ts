/** The PIX keys that a provider's answer lists. */
import { normalisePixKey } from '../domain/pix-key.ts';
import { entryStatusNames, readFields, firstId, isObject, findValues } from './wire-reading.ts';
import type { ProviderPayload } from './provider.ts';

const listNames = ['keys', 'pixkeys', 'chaves', 'items', 'list', 'data', 'entries'];
const keyNames = ['key', 'pixkey', 'chave'];

/** A key under a claim or in the making is not the account's. */
const registered = /^(?:ACTIVE|ATIVA?|REGISTERED|CONFIRMED|OWNED|OK)$/i;

/** Levels of lists and wrappers that are searched; providers use two. */
const searchDepth = 4;

/**
 * Reads the keys that an answer lists, each as the directory stores it. An entry whose status is
 * not that of a registered key is left out; what cannot be read lists nothing.
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
