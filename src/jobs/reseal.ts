/** Sealing stored values again, after `ENCRYPTION_KEY` has got a new first key. */
import type { LocalContext } from '../context.ts';
import { sealedPlaces, type SealedPlace, type SealedRow } from '../db/queries/seal-again.ts';
import { SealError } from '../security/sealing.ts';

const batch = 100;

/**
 * Seals with the first key of the ring what another one has sealed. There is nothing to do while
 * there is one key. A value that no key opens is left as it is and counted in the log.
 */
export async function sealStoredValuesAgain(context: LocalContext): Promise<void> {
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
  { find, replace }: SealedPlace,
  prefix: Buffer,
): Promise<{ sealed: number; unreadable: number }> {
  let [sealed, unreadable] = [0, 0];
  let after = '';
  while (!context.stopping.aborted) {
    const rows = await context.db.query<SealedRow>(find, [prefix, after, batch]);
    for (const row of rows) {
      const again = sealedAgain(context, row);
      if (again === null) unreadable += 1;
      else {
        await context.db.query(replace, [row.key, row.sealed, again]);
        sealed += 1;
      }
    }
    const last = rows.at(-1);
    if (!last || rows.length < batch) break;
    after = last.key;
  }
  return { sealed, unreadable };
}

/** @returns null for a value that no key of the ring opens: it is left as it is. */
function sealedAgain({ sealer }: LocalContext, { sealed, owner }: SealedRow): Buffer | null {
  try {
    return sealer.seal(sealer.open(sealed, owner), owner);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    return null;
  }
}
