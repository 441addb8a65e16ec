/** Which requests are open on which connection, so that no answer is given to the wrong one. */
import type { Socket } from 'node:net';
import type { Exchange } from './exchange.ts';

/** The connections that are open, each with the requests that it has under way. */
export class Connections {
  readonly #open = new Map<Socket, Exchange[]>();

  /** Follows a connection until it closes. */
  add(socket: Socket): void {
    this.#open.set(socket, []);
    socket.once('close', () => this.#open.delete(socket));
  }

  /** Follows a request until its answer is out or its connection closed. */
  open(exchange: Exchange, whenDone: () => void): void {
    const exchanges = this.#open.get(exchange.request.socket) ?? [];
    exchanges.push(exchange);
    exchange.response.once('close', () => {
      exchanges.splice(exchanges.indexOf(exchange), 1);
      whenDone();
    });
  }

  /** The requests of a connection that have no complete answer yet, in their order. */
  openOn(socket: Socket): readonly Exchange[] {
    return this.#open.get(socket) ?? [];
  }

  /** Closes the connections on which nothing has arrived yet, such as a balancer's spare ones. */
  closeUnused(): void {
    for (const socket of this.#open.keys()) {
      if (socket.bytesRead === 0) socket.destroy();
    }
  }
}
