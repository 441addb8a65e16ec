/** `request-id`: what the log has in place of an id that a client has given a request. */
import { loggedDigest } from '../security/sealing.ts';
import type { Op } from './op.ts';

/** Makes the digest of a request id or a trace id. */
export const digestRequestId: Op<{ readonly id: string }, { readonly digest: string }> = {
  needs: 'nothing',
  run: ({ sealer }, { id }) => Promise.resolve({ digest: loggedDigest(sealer, id) }),
};
