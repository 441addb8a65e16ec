/** Sealing stored values again, after `ENCRYPTION_KEY` has got a new first key. */
import type { LocalContext } from '../context/context.ts';
import { SealError } from '../security/sealing.ts';
import type { JobHandler } from '../jobs/job.ts';
import {
  findSealedByOthers,
  replaceSealed,
  sealedPlaces,
  type SealedPlace,
  type SealedValue,
} from './sealed-value-repository.ts';

const batch = 100;

/** Brings sealed values to the first key of `ENCRYPTION_KEY`, so that the older can be removed. */
export const sealAgain: JobHandler = {
  everyMs: 60 * 60_000,
  maxMs: 2 * 60 * 60_000,
  async run(context) {
    await sealStoredValuesAgain(context);
    return undefined;
  },
};

/**
 * Seals with the first key of the ring what another one has sealed. There is nothing to do while
 * there is one key. A value that no key opens stays as it is and is counted in the log.
 */
async function sealStoredValuesAgain(context: LocalContext): Promise<void> {
  const { currentPrefix } = context.sealer;
  if (currentPrefix === null) return;
  for (const place of sealedPlaces) {
    const { sealed, unreadable } = await sealPlaceAgain(context, place, currentPrefix);
    if (sealed + unreadable === 0) continue;
    context.log.info({ place: place.name, sealed, unreadable }, 'values were sealed again');
  }
}

async function sealPlaceAgain(
  context: LocalContext,
  place: SealedPlace,
  prefix: Buffer,
): Promise<{ sealed: number; unreadable: number }> {
  let [sealed, unreadable] = [0, 0];
  let after = '';
  while (!context.stopping.aborted) {
    const values = await findSealedByOthers(context, place, { prefix, after, limit: batch });
    for (const value of values) {
      const again = sealedAgain(context, value);
      if (again === null) unreadable += 1;
      else {
        await replaceSealed(context, place, { key: value.key, from: value.sealed, to: again });
        sealed += 1;
      }
    }
    const last = values.at(-1);
    if (!last || values.length < batch) break;
    after = last.key;
  }
  return { sealed, unreadable };
}

/** @returns null for a value that no key of the ring opens: it stays as it is. */
function sealedAgain({ sealer }: LocalContext, { sealed, owner }: SealedValue): Buffer | null {
  try {
    return sealer.seal(sealer.open(sealed, owner), owner);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    return null;
  }
}
