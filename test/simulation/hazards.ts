/**
 * Hazards: behaviour of a provider, a database or an app that the service must handle, but may not
 * handle yet. The default run draws only from the hazards that are on, so that the current code
 * passes; `npm run simulate -- --hazards all` draws from all. Turn a hazard on when the service
 * handles it: from then on no seed may fail with it.
 */

interface HazardState {
  readonly on: boolean;
  /** The behaviour, or what the service has to do about it. */
  readonly description: string;
}

const states = {
  failed_attempt_events: {
    on: true,
    description:
      'an attempt fails inside the bank, which posts ERROR at once and executes the repeat',
  },
  late_failed_attempt_events: {
    on: true,
    description: 'the same, and that ERROR may arrive after the repeat was executed',
  },
  rejected_repeats: {
    on: true,
    description: 'a repeat of an executed payment is answered 200 REJECTED',
  },
  duplicate_wordings: {
    on: true,
    description:
      'a repeat is refused in every wording that providers use, arrays and `data` included',
  },
  duplicate_events: {
    on: true,
    description:
      'a refused repeat is reported in an ERROR event with the ids of the executed payment',
  },
  success_receipts: {
    on: true,
    description: 'the response to a payment says SUCCESS when it is only accepted',
  },
  status_numbers: {
    on: true,
    description:
      'statuses are bare numbers: 0 created, 1 transferred, 2 error, 3 scheduled, 4 refunded',
  },
  statement_holds: {
    on: true,
    description: 'the statement lists payments that are under way, without a status',
  },
  statement_reversals: {
    on: true,
    description:
      'a returned payment stays in the statement, with a second line that names no direction',
  },
  booked_debits: {
    on: true,
    description:
      'a payment is listed as a settled debit at once and reversed if it fails; fees, holds and ' +
      'pending lines stand beside it; money comes back without a return id',
  },
  statement_limits: {
    on: true,
    description: 'the statement refuses long ranges, and an old payment of the user stays unknown',
  },
  repeats_after_end: {
    on: true,
    description: 'no attempt leaves for a payment that is final by then',
  },
  accepted_lookups: {
    on: true,
    description: 'a payment in ACCEPTED is settled from the statement',
  },
  stored_knowledge: {
    on: true,
    description: 'what a live process knows is stored, even if the database fails repeatedly',
  },
  foreign_payees: {
    on: true,
    description:
      'an event names a charge of one customer and, in every part, the account of another',
  },
  bare_receipts: {
    on: true,
    description:
      "a receipt names neither of our ids, and keys are unique in the company: another's fits",
  },
  unlisted_responses: {
    on: true,
    description: 'a payment, executed or not, is answered in a form that is in no list',
  },
  doubtful_tokens: {
    on: true,
    description: 'a 401 answers a payment that was executed',
  },
  false_refusals: {
    on: true,
    description: 'a listed refusal answers a payment that was executed: it is corrected later',
  },
  unlisted_codes: {
    on: true,
    description: 'an ERROR event has a code that is in no table',
  },
  other_channels: {
    on: true,
    description: 'an event names, by its client id alone, a payment that is older or of others',
  },
  copied_codes: {
    on: true,
    description: 'money for another payee carries the identification of a charge',
  },
  moving_keys: {
    on: true,
    description: 'a key gets another owner between look-up and payment, or after it was listed',
  },
  further_pages: {
    on: true,
    description: 'the statement has further pages',
  },
} as const satisfies Readonly<Record<string, HazardState>>;

export type Hazard = keyof typeof states;

export type Hazards = ReadonlySet<Hazard>;

export const allHazards: readonly Hazard[] = Object.keys(states) as Hazard[];

/** The hazards of a default run. */
export const defaultHazards: Hazards = new Set(allHazards.filter((name) => states[name].on));

/** Describes a hazard for the list on the command line. */
export function describeHazard(name: Hazard): string {
  return `${name}${states[name].on ? ' (on)' : ''}: ${states[name].description}`;
}
