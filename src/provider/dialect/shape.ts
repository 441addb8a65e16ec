/** A shape as it is read: the compiled form of an entry of a dialect's file. */
import type { Path } from './fields.ts';
import type { Direction, IdName, Kind, Meaning } from './format.ts';
import type { RefusalCodes } from '../refusals.ts';
import type { AmountUnit, PayeeField, TimeForm } from './values.ts';

/** The kinds of values that a condition distinguishes. */
export type ValueKind = 'absent' | 'word' | 'list' | 'object';

/** A condition of a shape: the value at a path is of one of these kinds and, if given, words. */
export interface Condition {
  readonly path: Path;
  readonly kinds: ReadonlySet<ValueKind>;
  readonly words: ReadonlySet<string> | null;
}

/** A field with words; null: the word is known and says nothing. */
export interface Column<Word extends string> {
  readonly at: readonly Path[];
  readonly words: ReadonlyMap<string, Word | null>;
  readonly absent: Word | null;
}

/** The fields around the lines of a statement that tell whether these are all. */
export interface Envelope {
  /** The fields that may stand around the list; any other may be a sign of a further page. */
  readonly known: readonly Path[];
  /** The number of this page, that of all pages, the size of a page, the number of all lines. */
  readonly page: readonly Path[];
  readonly pages: readonly Path[];
  readonly size: readonly Path[];
  readonly total: readonly Path[];
  /** A cursor or a link, which is filled when there is a further page. */
  readonly next: readonly Path[];
  /** A flag, which is true when there is a further page. */
  readonly more: readonly Path[];
  /** Whether the request succeeded: the words of `successes` in messages.ts, or true. */
  readonly answer: readonly Path[];
  /** Lengths of a list that may be a full page where nothing says more. */
  readonly full: ReadonlySet<number>;
}

export interface Shape {
  /** With its dialect: `ponte/payment`. */
  readonly name: string;
  readonly kind: Kind;
  /** The scopes and the shapes with lists in which it may stand. */
  readonly of: readonly string[];
  readonly when: readonly Condition[];
  /** The list whose items are read by the shapes of this one. */
  readonly each: Path | null;
  readonly ids: readonly (readonly [IdName, readonly Path[]])[];
  /** Whether the provider's id names a payment without a second id. */
  readonly isNamedAlone: boolean;
  readonly amount: {
    readonly at: readonly Path[];
    readonly unit: AmountUnit;
    readonly isSigned: boolean;
  } | null;
  readonly payee: readonly (readonly [PayeeField, readonly Path[]])[];
  readonly time: { readonly at: readonly Path[]; readonly form: TimeForm } | null;
  readonly status: readonly Column<Meaning>[];
  readonly direction: readonly Column<Direction>[];
  readonly flow: 'IN' | 'OUT' | 'EITHER' | null;
  readonly code: readonly Path[];
  /** The paths of fields that say nothing in this message, as `formatPath` writes them. */
  readonly passesOver: ReadonlySet<string>;
  /** The same, with the places of the status, which its columns judge. */
  readonly noSigns: ReadonlySet<string>;
  /** The codes that prove that a payment was not executed. */
  readonly notExecuted: RefusalCodes;
  readonly envelope: Envelope;
  /** For each object that the shape reads, the guarded names that it does not read. */
  readonly guarded: readonly Guard[];
  /** For each object in which the word of an event may stand, the names that it may have. */
  readonly otherMarkers: readonly Guard[];
  /** Every name that the word of an event may have inside a field of such a name. */
  readonly markerNames: ReadonlySet<string>;
}

/** Names of fields that an object may not have. */
export interface Guard {
  readonly path: Path;
  readonly names: ReadonlySet<string>;
}
