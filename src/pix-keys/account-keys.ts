/** Which PIX keys are an account's, as far as the provider has said so. */
import type { LocalContext } from '../context.ts';
import type { Statement } from '../db/database.ts';
import { listedKeys } from '../provider/listed-keys.ts';
import type { ProviderPayload } from '../provider/provider.ts';

/** Parameters: account id, keys. */
const keep: Statement = {
  name: 'account-keys-keep',
  text: `update accounts set pix_keys = $2::text[] where id = $1`,
};

/** Parameters: account id, key. */
const forget: Statement = {
  name: 'account-keys-forget',
  text: `
    update accounts set pix_keys = array_remove(pix_keys, $2)
     where id = $1 and pix_keys @> array[$2::text]`,
};

/**
 * Keeps the keys that the provider lists for an account: a received PIX that names one of them is
 * for this account. They take the place of those of an earlier list.
 * @param answer the provider's answer to a request for the account's keys.
 */
export async function keepListedKeys(
  context: LocalContext,
  accountId: number,
  answer: ProviderPayload,
): Promise<void> {
  await context.db.query(keep, [accountId, listedKeys(answer)]);
}

/** Forgets a key that the account no longer has: another account may register it. */
export async function forgetKey(
  context: LocalContext,
  accountId: number,
  key: string,
): Promise<void> {
  await context.db.query(forget, [accountId, key]);
}
