/** The process in which autocannon runs: it receives one load and reports its result. */
import autocannon from 'autocannon';
import { numberMark, type Load, type LoadResult, type PlannedRequest } from './load-plan.ts';

process.once('message', (load: Load) => {
  void run(load).then((result) => process.send?.(result));
});

async function run({ url, connections, seconds, plan }: Load): Promise<LoadResult> {
  let number = plan.numbers.first - 1;
  const nextNumber = (): string => {
    number = number < plan.numbers.last ? number + 1 : plan.numbers.first;
    return String(number).padStart(numberMark.length, '0');
  };
  const { requests, errors, timeouts, non2xx, latency, duration } = await autocannon({
    url,
    connections,
    duration: seconds,
    timeout: 30,
    requests: plan.requests.map((request) => planned(request, nextNumber)),
  });
  return {
    requests: requests.total,
    seconds: duration,
    failures: errors + timeouts + non2xx,
    p50Ms: latency.p50,
    p99Ms: latency.p99,
  };
}

function planned(request: PlannedRequest, nextNumber: () => string): autocannon.Request {
  const { method, path, headers, body } = request;
  const asIs = { method, path, headers: { ...headers }, ...(body !== undefined && { body }) };
  const template = JSON.stringify({ headers, body });
  if (!template.includes(numberMark)) return asIs;
  return {
    ...asIs,
    setupRequest: (current) => ({
      ...current,
      ...(JSON.parse(template.replaceAll(numberMark, nextNumber())) as object),
    }),
  };
}
