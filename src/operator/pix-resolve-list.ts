/** `pix resolve --from`: records the ends of many payments from a list that the bank confirmed. */
import type { LocalContext } from '../context/context.ts';
import { OpError, type Op, type OpCaller } from './op.ts';
import { findNamedPix, type NamedPix } from './pix-resolve-list-repository.ts';
import { resolvePix, type PixResolveInput } from './pix-resolve.ts';

/** One line of the list. */
export interface ListedEnd {
  /** Its number in the file, from 1. */
  readonly line: number;
  /** The id of the transaction, or the end-to-end id of a send. */
  readonly name: string;
  readonly as: 'completed' | 'failed';
}

export interface PixResolveListInput extends Pick<
  PixResolveInput,
  'reason' | 'confirm' | 'onlyCheck'
> {
  /** At most {@link maxListed}. */
  readonly entries: readonly ListedEnd[];
}

/** What became of a line. */
export interface ListedResult {
  readonly line: number;
  /** The id of the transaction; null: there is none with the name. */
  readonly id: string | null;
  /** `already`: it had ended so before, such as in an earlier run of the same list. */
  readonly result: 'resolvable' | 'resolved' | 'already' | 'refused';
  /** Why it was refused, as a sentence. */
  readonly reason: string | null;
}

/** The most lines of one call. */
export const maxListed = 100;

/**
 * Resolves the payments of a part of a list, each in a commit of its own with its record. A caller
 * that is interrupted sends the same lines again: what was resolved is `already`.
 * @throws OpError when there are too many lines.
 */
export const resolveList: Op<PixResolveListInput, { readonly results: readonly ListedResult[] }> = {
  async run(context, { entries, ...decision }, caller) {
    if (entries.length > maxListed) throw new OpError('INVALID', 'the list is too long');
    const named = await findNamedPix(
      context,
      entries.map(({ name }) => name),
    );
    const results: ListedResult[] = [];
    for (const entry of entries) {
      const row = named.get(entry.name) ?? named.get(entry.name.toLowerCase());
      results.push(await resolveOne(context, { entry, row, decision }, caller));
    }
    return { results };
  },
};

interface NamedEnd {
  readonly entry: ListedEnd;
  readonly row: NamedPix | undefined;
  readonly decision: Omit<PixResolveListInput, 'entries'>;
}

async function resolveOne(
  context: LocalContext,
  { entry: { line, as }, row, decision }: NamedEnd,
  caller: OpCaller,
): Promise<ListedResult> {
  if (!row) {
    const reason = 'there is no such transaction';
    return { line, id: null, result: 'refused', reason };
  }
  const { id, status } = row;
  if (status === as.toUpperCase()) return { line, id, result: 'already', reason: null };
  try {
    const corrects = status === 'FAILED';
    await resolvePix.run(context, { ...decision, id, as, corrects, isListed: true }, caller);
  } catch (error) {
    if (!(error instanceof OpError)) throw error;
    return { line, id, result: 'refused', reason: error.message };
  }
  return { line, id, result: decision.onlyCheck ? 'resolvable' : 'resolved', reason: null };
}
