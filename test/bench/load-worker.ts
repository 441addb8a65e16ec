/** The process that generates load: it runs each load that it receives, and reports the result. */
import { performance } from 'node:perf_hooks';
import { Connection } from './connection.ts';
import { numberMark, type Load, type LoadPlan, type LoadResult } from './load.ts';

/** @returns a function that writes the next request, or null when the numbers are used up. */
function requestWriter({ requests, numbers }: LoadPlan, host: string): () => string | null {
  const templates = requests.map(({ method, path, headers, body }) => {
    const lines = [
      `${method} ${path} HTTP/1.1`,
      `Host: ${host}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      ...(body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
    ];
    return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`.split(numberMark);
  });
  let place = -1;
  let number = (numbers?.first ?? 0) - 1;
  return () => {
    place = (place + 1) % templates.length;
    const parts = templates[place] ?? [];
    if (!numbers) return parts.join('');
    number += 1;
    return number > numbers.last ? null : parts.join(String(number).padStart(11, '0'));
  };
}

async function run({ url, connections, seconds, plan }: Load): Promise<LoadResult> {
  const { host, hostname, port } = new URL(url);
  const next = requestWriter(plan, host);
  const open = (): Promise<Connection> => Connection.open(hostname, Number(port));
  const ready = await Promise.all(Array.from({ length: connections }, open));
  const startedAt: number[] = [];
  const latencies: number[] = [];
  let failures = 0;
  const begun = performance.now();
  const deadline = begun + seconds * 1e3;

  const lane = async (first: Connection): Promise<void> => {
    let connection = first;
    for (;;) {
      const start = performance.now();
      const request = start < deadline ? next() : null;
      if (request === null) break;
      const place = startedAt.push(performance.timeOrigin + start) - 1;
      latencies[place] = NaN;
      try {
        const status = await connection.exchange(request);
        latencies[place] = performance.now() - start;
        if (status < 200 || status > 299) failures += 1;
      } catch {
        failures += 1;
        connection = await open();
      }
    }
    connection.close();
  };
  await Promise.all(ready.map(lane));
  return {
    requests: startedAt.length,
    failures,
    seconds: (performance.now() - begun) / 1e3,
    startedAt: Float64Array.from(startedAt),
    latencies: Float64Array.from(latencies),
  };
}

process.on('message', (load: Load) => {
  void run(load).then((result) => process.send?.(result));
});
process.once('disconnect', () => process.exit());
