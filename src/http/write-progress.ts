/** Whether the bytes that are to be sent over a socket move. */
import type { Socket } from 'node:net';

/**
 * What Node does not declare: the bytes that it has handed over, and those of them that the kernel
 * has not taken. `bytesWritten` and `writableLength` count a write only when the kernel has taken
 * it whole, so a long answer to a slow client would seem to stand still.
 */
interface Handle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

/** The progress of what one socket sends. */
export class WriteProgress {
  readonly #socket: Socket & { readonly _handle?: Handle | null };
  #sentBytes = 0;
  #movedAtMs: number | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /**
   * Looks at the socket again.
   *
   * @param nowMs the time, in milliseconds.
   * @returns for how long, in milliseconds, each look has found bytes to be sent and none of them
   *   moved; 0 when nothing is to be sent.
   */
  stalledMs(nowMs: number): number {
    const { _handle: handle, writableLength } = this.#socket;
    if (!handle || writableLength === 0) {
      this.#movedAtMs = null;
      return 0;
    }
    const sentBytes = handle.bytesWritten - handle.writeQueueSize;
    if (this.#movedAtMs === null || sentBytes !== this.#sentBytes) {
      this.#sentBytes = sentBytes;
      this.#movedAtMs = nowMs;
    }
    return nowMs - this.#movedAtMs;
  }
}
