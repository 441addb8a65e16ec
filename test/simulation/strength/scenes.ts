/** All scenes, and their recorded results. */
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';
import type { Deviation } from '../deviation.ts';
import type { Store } from '../store.ts';
import { candidateScenes } from './scenes-of-candidates.ts';
import { codeScenes } from './scenes-of-codes.ts';
import { correctionScenes } from './scenes-of-corrections.ts';
import { disputeScenes } from './scenes-of-disputes.ts';
import { eventScenes } from './scenes-of-events.ts';
import { blockScenes } from './scenes-of-blocks.ts';
import { jobScenes } from './scenes-of-jobs.ts';
import { queueScenes } from './scenes-of-queue.ts';
import { refundScenes } from './scenes-of-refunds.ts';
import { overdueScenes } from './scenes-of-overdue-sends.ts';
import { replayScenes } from './scenes-of-replays.ts';
import { reservationScenes } from './scenes-of-reservations.ts';
import { returnScenes } from './scenes-of-returns.ts';
import { sendScenes } from './scenes-of-sends.ts';
import { playScene, type Scene } from './stage.ts';

export const scenes: readonly Scene[] = [
  ...sendScenes,
  ...reservationScenes,
  ...codeScenes,
  ...blockScenes,
  ...eventScenes,
  ...queueScenes,
  ...candidateScenes,
  ...refundScenes,
  ...returnScenes,
  ...correctionScenes,
  ...overdueScenes,
  ...replayScenes,
  ...jobScenes,
  ...disputeScenes,
];

const file = join(import.meta.dirname, 'scenes.json');

/** The results of the scenes on the unchanged service, by name. */
export const findings = JSON.parse(readFileSync(file, 'utf8')) as Readonly<Record<string, unknown>>;

export function nameOfScene({ statement, title }: Scene): string {
  return `${statement.name}: ${title}`;
}

/** Records the current results of all scenes; review the difference before a commit. */
export async function writeScenes(store: Store): Promise<void> {
  const found: Record<string, unknown> = {};
  for (const scene of scenes) found[nameOfScene(scene)] = await playScene(scene, store);
  const style = await resolveConfig(file);
  await writeFile(file, await format(JSON.stringify(found), { ...style, parser: 'json' }));
}

/** @returns the result of a scene, or null when it is the recorded one. */
export async function catchFault(
  scene: Scene,
  store: Store,
  deviation: Deviation = {},
): Promise<string | null> {
  const found = JSON.stringify(await playScene(scene, store, deviation));
  return found === JSON.stringify(findings[nameOfScene(scene)]) ? null : found;
}

/** The first scene of the changed statement whose result differs with a mutant. */
export async function failingScene(
  store: Store,
  mutant: string,
  deviation: Deviation,
): Promise<string | null> {
  for (const scene of scenes) {
    if (!mutant.startsWith(`${scene.statement.name}: `)) continue;
    if ((await catchFault(scene, store, deviation)) !== null) return scene.title;
  }
  return null;
}
