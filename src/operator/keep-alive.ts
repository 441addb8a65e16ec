import { MessageChannel } from 'node:worker_threads';

/** Keeps the process from ending while work waits on a clock, whose timers keep nothing alive. */
export async function keepAlive<Result>(work: () => Promise<Result>): Promise<Result> {
  const { port1: port } = new MessageChannel();
  port.ref();
  try {
    return await work();
  } finally {
    port.close();
  }
}
