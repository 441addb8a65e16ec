/** Three servers and a worker as real processes, with one address in front of the servers. */
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ServiceProcess, type Environment } from '../system/service-process.ts';
import { freePort } from '../support/free-port.ts';

/** A slot for a process; a dead process is replaced in its slot. */
interface Member {
  readonly kind: 'serve' | 'worker';
  readonly environment: Environment;
  process: ServiceProcess;
}

export class Processes {
  readonly #members: Member[] = [];
  readonly #balancer: Server;
  /** The address for clients and the provider's events; known once {@link start} has resolved. */
  url = '';

  constructor() {
    let nth = 0;
    this.#balancer = createServer((request, response) => {
      const servers = this.#members.filter(({ kind }) => kind === 'serve');
      nth += 1;
      const port = servers[nth % servers.length]?.environment['PORT'];
      const { method, url, headers } = request;
      const onward = httpRequest({ host: '127.0.0.1', port, method, path: url, headers });
      const fail = (): void => {
        if (response.headersSent) response.destroy();
        else response.writeHead(502).end();
      };
      onward.on('error', fail);
      onward.on('response', (upstream) => {
        response.writeHead(upstream.statusCode ?? 502, upstream.headers);
        upstream.on('error', fail).pipe(response);
      });
      response.on('close', () => onward.destroy());
      request.pipe(onward);
    });
  }

  /** Opens the address; {@link start} starts the servers behind it. */
  async open(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#balancer.listen(0, '127.0.0.1', resolve);
    await promise;
    this.url = `http://127.0.0.1:${(this.#balancer.address() as AddressInfo).port}`;
  }

  /**
   * One server also runs jobs, so that they continue when the worker has died.
   * @param pooledUrl the database address of one server.
   */
  async start(environment: Environment, pooledUrl: string): Promise<void> {
    const own = [
      { kind: 'serve', JOBS: 'inline' },
      { kind: 'serve', JOBS: 'off', DATABASE_URL: pooledUrl },
      { kind: 'serve', JOBS: 'off' },
      { kind: 'worker', JOBS: 'inline' },
    ] as const;
    for (const { kind, ...ownSettings } of own) {
      const settings = { ...environment, ...ownSettings, PORT: String(await freePort()) };
      const process = new ServiceProcess(settings, kind);
      this.#members.push({ kind, environment: settings, process });
    }
    await this.ready();
  }

  get size(): number {
    return this.#members.length;
  }

  /** Resolves when every process is running. */
  async ready(): Promise<void> {
    await Promise.all(this.#members.map(({ process }) => process.ready()));
  }

  async kill(nth: number): Promise<void> {
    await this.#members[nth]?.process.kill();
  }

  signal(nth: number, name: NodeJS.Signals): void {
    this.#members[nth]?.process.signal(name);
  }

  /** Ends a process as a deployment does. */
  async stop(nth: number): Promise<void> {
    this.signal(nth, 'SIGTERM');
    await this.#members[nth]?.process.ended;
  }

  /** Starts the ended process again. */
  async restart(nth: number): Promise<void> {
    const member = this.#members[nth];
    if (!member) return;
    member.process = new ServiceProcess(member.environment, member.kind);
    await member.process.ready();
  }

  async close(): Promise<void> {
    this.#balancer.closeAllConnections();
    this.#balancer.close();
    await Promise.all(this.#members.map(({ process }) => process.kill()));
  }
}
