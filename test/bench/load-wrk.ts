/** Generates load with wrk: a Lua script written for each run creates its requests. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { numberMark, type Load, type LoadPlan, type LoadResult } from './load-plan.ts';

/** The path of wrk, searched for on the PATH. */
export const program = 'wrk';

/** Runs wrk with one thread, which is enough load for a server on two cores. */
export async function runWrk({ url, connections, seconds, plan }: Load): Promise<LoadResult> {
  const folder = await mkdtemp(join(tmpdir(), 'ponte-bench-'));
  try {
    const script = join(folder, 'load.lua');
    await writeFile(script, luaScript(plan, new URL(url).host));
    const args = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', script];
    const wrk = spawn(program, [...args, url], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [output, [code]] = await Promise.all([text(wrk.stdout), once(wrk, 'close')]);
    if (code !== 0) throw new Error(`wrk ended with ${code}: ${output}`);
    return readWrkOutput(output);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** A JSON string is a valid Lua string while it is ASCII. */
export function luaScript({ requests, numbers }: LoadPlan, host: string): string {
  const rows = requests.map((request) => {
    const { method, path, headers, body } = request;
    const lines = [
      `${method} ${path} HTTP/1.1`,
      `Host: ${host}`,
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      ...(body === undefined ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
    ];
    const parts = `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`.split(numberMark);
    return `  {${parts.map((part) => JSON.stringify(part)).join(', ')}},`;
  });
  return `local requests = {
${rows.join('\n')}
}
local place, number = 0, ${numbers.first - 1}
request = function()
  place = place % #requests + 1
  local parts = requests[place]
  if #parts == 1 then return parts[1] end
  number = number < ${numbers.last} and number + 1 or ${numbers.first}
  return table.concat(parts, string.format('%0${numberMark.length}d', number))
end
done = function(summary, latency)
  local errors = summary.errors
  local lost = errors.connect + errors.read + errors.write + errors.timeout
  io.write(string.format('ponte-bench %d %d %d %.0f %.0f\\n', summary.requests, summary.duration,
    errors.status + lost, latency:percentile(50), latency:percentile(99)))
end
`;
}

/** Reads the line that the script prints at the end; its times are in microseconds. */
export function readWrkOutput(output: string): LoadResult {
  const numbers = /^ponte-bench (\d+) (\d+) (\d+) (\d+) (\d+)$/m.exec(output)?.slice(1);
  if (!numbers) throw new Error(`wrk did not print its result: ${output}`);
  const [requests = 0, duration = 0, failures = 0, p50 = 0, p99 = 0] = numbers.map(Number);
  return { requests, seconds: duration / 1e6, failures, p50Ms: p50 / 1e3, p99Ms: p99 / 1e3 };
}
