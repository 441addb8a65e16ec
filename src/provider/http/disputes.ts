/** The calls about disputes over the provider's HTTP API; assumed (contract/provider.md). */
import type * as wire from '../../../contract/provider-types.ts';
import { reportedDisputeStatuses } from '../../domain/dispute.ts';
import { readWord } from '../dialect/fields.ts';
import { notUnderstood, ProviderError } from '../errors.ts';
import type { DisputeOrder, DisputeRef, DisputeRefRequest, Provider } from '../provider.ts';
import { endToEndNames, findValues } from '../wire-reading.ts';
import type { SendRequest } from './request.ts';
import { payloadPlaces } from './translate.ts';

/** Creates the calls of the port about disputes. */
export function createHttpDisputes(
  send: SendRequest,
): Pick<Provider, 'openDispute' | 'withdrawDispute' | 'readDispute'> {
  return {
    openDispute: async (request) => {
      const { endToEnd } = request.order;
      const input = { path: { endToEnd }, body: disputeBody(request.order) };
      return readState(await send('openDispute', input, request), request.order);
    },
    withdrawDispute: async (request) => {
      const { endToEnd, disputeId } = request.dispute;
      const input = { path: { endToEnd }, body: { disputeId } };
      return readWithdrawal(await send('withdrawDispute', input, request), request.dispute);
    },
    readDispute: (request) => readDispute(send, request),
  };
}

/** Builds the body of a dispute. */
function disputeBody({ disputeId, situation, details }: DisputeOrder): wire.Dispute {
  return { disputeId, situation, ...(details !== null && { details }) };
}

/** Only the provider's own word says that there is no dispute: a proxy may answer 404, too. */
const noDispute = 'DISPUTENOTFOUND';

async function readDispute(send: SendRequest, request: DisputeRefRequest) {
  const { endToEnd } = request.dispute;
  try {
    const json = await send('readDispute', { path: { endToEnd } }, request);
    return readState(json, request.dispute);
  } catch (error) {
    const isNone = error instanceof ProviderError && error.statusClass === '404';
    if (isNone && error.reason?.toUpperCase() === noDispute) return null;
    throw error;
  }
}

/** Reads a dispute as it is now; every status must be the same, because some are final. */
function readState(json: unknown, { disputeId, endToEnd }: DisputeRef) {
  const places = payloadPlaces(json);
  const isOther = (names: readonly string[], id: string): boolean =>
    findValues(names, places).some((value) => value !== id);
  if (isOther(['disputeid'], disputeId) || isOther(endToEndNames, endToEnd)) {
    throw notUnderstood(new Error('a response about another dispute'));
  }
  const words = new Set(findValues(['status'], places).map(readWord));
  const status = reportedDisputeStatuses.find((one) => words.has(one));
  if (status === undefined || words.size > 1)
    throw notUnderstood(new Error('a dispute without a known status'));
  return status;
}

/** Reads the response to a withdrawal, after which no dispute is open. */
function readWithdrawal(json: unknown, dispute: DisputeRef) {
  const status = readState(json, dispute);
  if (status === 'OPEN') throw notUnderstood(new Error('a withdrawn dispute that is open'));
  return status;
}
