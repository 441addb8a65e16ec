/** Measures whether a socket makes progress in sending. */
import type { Socket } from 'node:net';

/**
 * Undeclared fields of Node: the bytes passed to the handle, and those that the kernel has not
 * accepted yet. The public `bytesWritten` and `writableLength` count a write only when the kernel
 * has accepted all of it, so a long response to a slow client would appear stalled.
 */
interface Handle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

/** The sending progress of one socket. */
export class WriteProgress {
  readonly #socket: Socket & { readonly _handle?: Handle | null };
  #sentBytes = 0;
  #movedAtMs: number | null = null;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /**
   * Checks the socket.
   *
   * @param nowMs the current time, in milliseconds.
   * @returns for how long bytes have been waiting without progress, in milliseconds; 0 when nothing
   *   is to be sent.
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
