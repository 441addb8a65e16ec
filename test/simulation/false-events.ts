/** All events that are false, or of payments of others: none of them may move a transaction. */
import type { ProcessedRow } from '../../src/ledger/pix-transaction-repository.ts';
import { ForgedDisputes, type ForgedDisputesOptions } from './forged-disputes.ts';
import { ForgedEvents, type ForgedEventsOptions } from './forged-events.ts';
import type { Disputes } from './oracle/disputes.ts';
import { OtherChannels } from './other-channels.ts';

export interface FalseEventsOptions extends ForgedEventsOptions, ForgedDisputesOptions {
  readonly disputes: Disputes;
  /** How likely an event of another channel names a payment. */
  readonly otherChannels: number;
}

export class FalseEvents {
  readonly otherChannels: OtherChannels;
  readonly #forged: ForgedEvents;

  constructor({ otherChannels: likelihood, ...options }: FalseEventsOptions) {
    this.#forged = new ForgedEvents(options);
    const forgedDisputes = new ForgedDisputes(options);
    options.disputes.moved = (row) => forgedDisputes.moved(row);
    this.otherChannels = new OtherChannels({ ...options, forgedEvents: this.#forged, likelihood });
  }

  /** The hashes of the false events. */
  get sent(): ReadonlySet<string> {
    return this.#forged.sent;
  }

  /**
   * A transaction was read or written.
   * @param isEnd whether it is final for the first time.
   */
  observed(row: ProcessedRow, { isEnd }: { readonly isEnd: boolean }): void {
    if (isEnd) this.#forged.contradict(row);
    this.otherChannels.observed(row);
  }

  /** A step is about to run. */
  strike(): void {
    this.#forged.mismatch();
    this.otherChannels.strike();
  }
}
