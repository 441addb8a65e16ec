/**
 * Hazards: what a provider, a database or an app may do, and what the service then has to do, as
 * far as the service does not cope with it yet. The default run draws only from those that are on,
 * so that it holds on the code as it is; `npm run simulate -- --hazards all` draws from every one.
 * Turn one on here when the repair is in: from then on no seed may fail with it.
 */

interface HazardState {
  readonly on: boolean;
  /** What happens, or what is demanded. */
  readonly says: string;
}

const states = {
  failed_attempt_events: {
    on: true,
    says: 'an attempt fails inside the bank, which posts ERROR at once and executes the repeat',
  },
  late_failed_attempt_events: {
    on: true,
    says: 'the same, and that ERROR may arrive after the repeat was executed',
  },
  rejected_repeats: {
    on: true,
    says: 'a repeat of an executed payment is answered 200 REJECTED',
  },
  duplicate_wordings: {
    on: true,
    says: 'a repeat is refused in every wording that providers use, arrays and `data` included',
  },
  duplicate_events: {
    on: true,
    says: 'a refused repeat is told in an ERROR event with the ids of the executed payment',
  },
  success_receipts: {
    on: true,
    says: 'the answer to a payment says SUCCESS when it is accepted only',
  },
  status_numbers: {
    on: true,
    says: 'statuses are bare numbers: 0 created, 1 transferred, 2 error, 3 scheduled, 4 refunded',
  },
  statement_holds: {
    on: true,
    says: 'the statement lists payments that are under way, without a status',
  },
  statement_reversals: {
    on: true,
    says: 'a returned payment stays in the statement, with a second line that names no direction',
  },
  statement_limits: {
    on: true,
    says: 'the statement refuses long ranges, and an old payment of the user stays unknown',
  },
  repeats_after_end: {
    on: true,
    says: 'no attempt leaves for a payment that has ended by then',
  },
  accepted_lookups: {
    on: true,
    says: 'a payment that stands in ACCEPTED is settled from the statement',
  },
  stored_knowledge: {
    on: true,
    says: 'what a living process knows is stored however often the database fails',
  },
  foreign_payees: {
    on: true,
    says: 'an event names a charge of one customer and, in every part, the account of another',
  },
  bare_receipts: {
    on: true,
    says: "a receipt names neither of our ids, and keys are unique in the company: another's fits",
  },
} as const satisfies Readonly<Record<string, HazardState>>;

export type Hazard = keyof typeof states;

export type Hazards = ReadonlySet<Hazard>;

export const allHazards: readonly Hazard[] = Object.keys(states) as Hazard[];

/** Those that every run draws from. */
export const defaultHazards: Hazards = new Set(allHazards.filter((name) => states[name].on));

/**
 * Reads a list of hazards, as the command line takes it.
 * @param text `all`, `none`, or names with commas; a name with a `-` before it is left out.
 * @throws Error when there is no such hazard.
 */
export function readHazards(text: string): Hazards {
  const chosen = new Set<Hazard>();
  for (const word of text.split(',').filter((one) => one !== '')) {
    const name = word.replace(/^-/, '');
    if (name !== 'all' && name !== 'none' && !isHazard(name)) {
      throw new Error(`there is no hazard ${name}: ${allHazards.join(', ')}`);
    }
    const meant = allHazards.filter((one) => one === name || name === 'all');
    for (const one of meant) {
      if (word.startsWith('-')) chosen.delete(one);
      else chosen.add(one);
    }
  }
  return chosen;
}

/** What a hazard is, for the list on the command line. */
export function describeHazard(name: Hazard): string {
  return `${name}${states[name].on ? ' (on)' : ''}: ${states[name].says}`;
}

function isHazard(name: string): name is Hazard {
  return Object.hasOwn(states, name);
}
