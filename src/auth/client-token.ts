/** The provider's client token of an account, as it is stored: sealed for its user. */
import type { Sealer } from '../security/sealing.ts';

/** Begins a token that is sealed; earlier versions have stored it in clear. */
const sealedMark = 'sealed:';

/** The owner that the tokens of a user are sealed for. */
function clientTokenOwner(userId: number): string {
  return `client-token:${userId}`;
}

/** Seals a token; null stays null. */
export function sealClientToken(
  { sealer }: { readonly sealer: Sealer },
  userId: number,
  token: string | null,
): string | null {
  if (token === null) return null;
  return sealedMark + sealer.seal(token, clientTokenOwner(userId)).toString('base64');
}
