/*
 * The values that requests begin with. The contract's examples are of the past: as a filter or as
 * an id they find nothing, so that a request has those that this service knows, or none.
 */
import { development, token } from './session.js';

/** Makes the contract one whose requests can be sent as they are. */
export function prepare(contract) {
  contract.paths['/auth/login'].post.requestBody.content['application/json'].example = development;
  for (const operation of Object.values(contract.paths).flatMap(Object.values)) {
    operation.parameters = operation.parameters?.map((parameter) => prefill(contract, parameter));
  }
  return contract;
}

/** A copy of the parameter: two operations must not share a key. */
function prefill(contract, parameter) {
  const name = parameter.$ref?.split('/').at(-1);
  const copy = structuredClone(name ? contract.components.parameters[name] : parameter);
  if (copy.name === 'Idempotency-Key') copy.example = crypto.randomUUID();
  else if (!copy.required || copy.name in known) {
    delete copy.example;
    delete copy.examples;
  }
  return copy;
}

/** The latest id of each kind, by the name of its parameter; null: none is known. */
export const known = { transactionId: null, applicationId: null };

/** Takes the id of what an operation has made. */
export function noteResponse(operationId, { id, transaction_id: transactionId }) {
  if (operationId === 'startOnboarding') known.applicationId = id;
  if (operationId === 'sendPix' || operationId === 'createCharge') {
    known.transactionId = transactionId;
  }
}

/** Reads the latest transaction of the customer who is logged in. */
export async function findTransaction() {
  known.transactionId = null;
  if (token() === null) return;
  const response = await fetch('/api/v1/pix?limit=1', {
    headers: { Authorization: `Bearer ${token()}` },
  });
  const { items = [] } = response.status === 200 ? await response.json() : {};
  known.transactionId = items[0]?.transaction_id ?? null;
}
