/** Places in a process for events that it settles as soon as it has stored them. */

/** A place for one event. Either `begin` or `release` is called. */
export interface EventPlace {
  /** When another attempt at the event is due, if this one has not ended by then. */
  readonly dueAt: Date;
  /**
   * Begins the attempt, once the event is stored with `dueAt` in the queue.
   * @param settle resolves to whether the event is in the queue still.
   */
  begin(eventId: string, settle: () => Promise<boolean>): void;
  /** Gives the place back: nothing was stored. */
  release(): void;
}

/** Gives the places of this process. */
export class EventPlaces {
  #reserve: () => EventPlace | null = () => null;

  /** Sets the queue of this process. A process without one leaves every event to others. */
  connect(queue: { reserve(): EventPlace | null }): void {
    this.#reserve = () => queue.reserve();
  }

  /** @returns a place for an event that is about to be stored; null: it waits in the queue. */
  reserve(): EventPlace | null {
    return this.#reserve();
  }
}
