/** The institutions of Pix, and how an answer shows one. */
import participants from './participants.json' with { type: 'json' };

/** An institution as answers show it. */
export interface Bank {
  /** Its identifier in the payment system, eight characters. */
  readonly ispb: string;
  /** Null for an institution that the list of participants does not have. */
  readonly name: string | null;
  /** Its CNPJ, without punctuation; only of the one that keeps the customers' accounts. */
  readonly document?: string;
}

const names: ReadonlyMap<string, string> = new Map(Object.entries(participants.names));

/**
 * Returns the name that an institution has in the list of participants, `participants.json`.
 *
 * @param ispb eight digits or capital letters.
 * @returns null for one that the list does not have.
 */
export function participantName(ispb: string): string | null {
  return names.get(ispb) ?? null;
}

/**
 * Returns an institution as answers show it.
 *
 * @param ispb eight digits or capital letters.
 * @param own the institution that keeps the customers' accounts, whose name is configured.
 */
export function bankOf(ispb: string, own: Bank): Bank {
  return ispb === own.ispb ? own : { ispb, name: participantName(ispb) };
}
