/** Makes load, with wrk where it is installed and with autocannon elsewhere. */
import { spawnSync } from 'node:child_process';
import { runAutocannon } from './load-autocannon.ts';
import type { Load, LoadResult } from './load-plan.ts';
import { program, runWrk } from './load-wrk.ts';

export type LoadTool = 'wrk' | 'autocannon';

export function installedTool(): LoadTool {
  return spawnSync(program, ['-v']).error ? 'autocannon' : 'wrk';
}

export function runLoad(tool: LoadTool, load: Load): Promise<LoadResult> {
  return tool === 'wrk' ? runWrk(load) : runAutocannon(load);
}
