/**
 * Settles the items of an event in sets: one statement reads what they may be about, each is
 * decided by itself, and what was decided is applied together.
 */
import { nextTurn } from '../clock.ts';
import type { LocalContext } from '../context.ts';
import { staticTxidLength } from '../domain/settlement.ts';
import type { ProviderEvent } from '../provider/webhook-events.ts';
import { applyDecisions, type Settled } from './apply.ts';
import { decide, needsFacts } from './decide.ts';
import { readFacts, type Facts } from './transaction-repository.ts';

/** The most items of a set, as many as a grouped statement takes: others have their turn then. */
const setSize = 256;

/** After a lost race another process has settled the item, and settled is final. */
const mostDecisions = 3;

/** An item, and how often its decision could not be applied. */
interface Pending {
  readonly item: ProviderEvent;
  lostRaces: number;
}

/**
 * Settles items of an event, a set after the other. An item that was settled before is found
 * settled, so all of it may be repeated.
 * @returns what became of each item, by its place in the payload.
 * @throws what the database throws; every other item of the set is settled then.
 */
export async function settleItems(
  context: LocalContext,
  eventId: string,
  items: readonly ProviderEvent[],
): Promise<ReadonlyMap<number, Settled>> {
  const settled = new Map<number, Settled>();
  for (let first = 0; first < items.length; first += setSize) {
    if (first > 0) await nextTurn();
    let pending = items
      .slice(first, first + setSize)
      .map((item): Pending => ({ item, lostRaces: 0 }));
    while (pending.length > 0) {
      await settleRound(context, { eventId, pending, settled });
      pending = pending.filter(({ item }) => !settled.has(item.index));
    }
  }
  return settled;
}

interface Round {
  readonly eventId: string;
  readonly pending: readonly Pending[];
  /** What became of the items so far; the round adds to it. */
  readonly settled: Map<number, Settled>;
}

/**
 * Settles the first items, up to one that may be about the same transaction as one before it: a
 * later round finds what those before it have changed.
 */
async function settleRound(
  context: LocalContext,
  { eventId, pending, settled }: Round,
): Promise<void> {
  const first = independent(pending, ({ item }) => idsOf(item));
  const read = await Promise.all(
    first.map(async (one) => ({ one, facts: await factsOf(context, one.item) })),
  );
  const round = independent(read, ({ facts }) => facts.candidates.map(({ id }) => id));
  const applied = await Promise.allSettled(
    round.map(async ({ one, facts }) => {
      const { item } = one;
      const decisions = decide({ eventId, item }, facts);
      const result = await applyDecisions(context, eventId, decisions);
      if (result) settled.set(item.index, result);
      else one.lostRaces += 1;
      if (one.lostRaces >= mostDecisions) throw new Error('a transaction changed at every attempt');
    }),
  );
  for (const one of applied) if (one.status === 'rejected') throw one.reason;
}

const noFacts: Facts = { candidates: [], payees: [] };

/** Reads what an item may be about; most that are ignored need no statement. */
export async function factsOf(context: LocalContext, item: ProviderEvent): Promise<Facts> {
  return needsFacts(item) ? readFacts(context, item) : noFacts;
}

/** @returns the elements before the first one that shares a name with one before it. */
function independent<Element>(
  elements: readonly Element[],
  namesOf: (element: Element) => readonly string[],
): readonly Element[] {
  const taken = new Set<string>();
  for (const [place, element] of elements.entries()) {
    const names = namesOf(element);
    if (names.some((name) => taken.has(name))) return elements.slice(0, place);
    for (const name of names) taken.add(name);
  }
  return elements;
}

/** The ids that a transaction may come to have; those of a charge as its code can hold them. */
export function idsOf(item: ProviderEvent): string[] {
  if (!needsFacts(item)) return [];
  const { endToEnd, clientRequestId, transactionIdentification, providerTxid } = item.ids;
  const ofCharge = transactionIdentification?.slice(0, staticTxidLength) ?? null;
  return [endToEnd, clientRequestId, ofCharge, providerTxid].filter((id) => id !== null);
}
