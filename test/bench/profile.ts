/** Runs one case on the service under Node's CPU profiler. */
import { mkdtemp, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cases } from './cases/index.ts';
import { startLoader } from './load.ts';
import { measure } from './measure.ts';
import type { Options } from './options.ts';
import { table } from './report.ts';
import { openStage } from './stage.ts';
import { takeTurn } from './turn.ts';

/** The part of the `.cpuprofile` format that is read here. */
export interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
    };
  }[];
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

const shown = 25;

/** @returns the text to print: the path of the profile, and the functions with the most time. */
export async function profile(options: Options, print: (line: string) => void): Promise<string> {
  const { databaseUrl, provider, seconds } = options;
  const [name = 'read'] = options.only;
  const [connections = 1] = options.connections;
  const folder = await mkdtemp(join(tmpdir(), 'ponte-profile-'));
  {
    await using parts = new AsyncDisposableStack();
    await takeTurn(databaseUrl, print, parts);
    const nodeArgs = ['--cpu-prof', `--cpu-prof-dir=${folder}`];
    const { target } = await openStage('ponte', { databaseUrl, provider, nodeArgs }, parts);
    print(`${cases[name].title}: ${seconds} s under the profiler`);
    const run = { number: 1, seconds, connections };
    await measure(target, cases[name], { load: startLoader(parts), run });
  }
  // The profile is written when the process ends.
  const [file] = await readdir(folder);
  if (file === undefined) throw new Error(`no profile was written to ${folder}`);
  const path = join(folder, file);
  const read = JSON.parse(await readFile(path, 'utf8')) as CpuProfile;
  return [
    `The profile is ${path} (Chrome: DevTools, Performance, load profile).`,
    '',
    table([['self', 'function', 'file'], ...hottest(read).slice(0, shown)]),
    '',
  ].join('\n');
}

/** Functions by self time, without idle time. @returns share, name and file. */
export function hottest({ nodes, samples, timeDeltas }: CpuProfile): string[][] {
  const named = new Map(
    nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => {
      const file = url.replace(/^.*\/(node_modules|src|bin|test)\//, '$1/');
      return [id, `${functionName || '(anonymous)'}\n${file}:${lineNumber + 1}`];
    }),
  );
  const self = new Map<string, number>();
  let total = 0;
  for (const [place, id] of samples.entries()) {
    const key = named.get(id) ?? '';
    if (key.startsWith('(idle)')) continue;
    const time = timeDeltas[place] ?? 0;
    self.set(key, (self.get(key) ?? 0) + time);
    total += time;
  }
  return [...self]
    .toSorted(([, left], [, right]) => right - left)
    .map(([key, time]) => {
      const [name = '', file = ''] = key.split('\n');
      return [`${((time / total) * 100).toFixed(1)} %`, name, file];
    });
}
