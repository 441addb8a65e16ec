/** Limits the open connections of a server, in total and per client address. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionCloseReason } from '../metrics.ts';
import { throttleAddress } from './client-address.ts';

export interface ConnectionLimits {
  readonly total: number;
  /** From one address; 0 sets no limit. */
  readonly perAddress: number;
}

/**
 * Closes each connection that exceeds a limit as soon as it is accepted.
 *
 * @param onRefused is called for each of them.
 */
export function limitConnections(
  server: Server,
  { total, perAddress }: ConnectionLimits,
  onRefused: (reason: ConnectionCloseReason) => void,
): void {
  server.maxConnections = total;
  server.on('drop', () => onRefused('total'));
  if (perAddress === 0) return;
  const openByAddress = new Map<string, number>();
  server.on('connection', (socket: Socket) => {
    const address = throttleAddress(socket.remoteAddress ?? '');
    const open = openByAddress.get(address) ?? 0;
    if (open >= perAddress) {
      onRefused('per_address');
      socket.destroy();
      return;
    }
    openByAddress.set(address, open + 1);
    socket.once('close', () => {
      const left = (openByAddress.get(address) ?? 0) - 1;
      if (left > 0) openByAddress.set(address, left);
      else openByAddress.delete(address);
    });
  });
}
