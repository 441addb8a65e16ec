/* The contract as a request to this service needs it, and the values that requests begin with. */

export const development = { email: 'dev@ponte.test', password: 'ponte-dev-password' };

/**
 * Makes the contract one to try. Its examples are of the past: as values of a filter they find
 * nothing, so that only those that a request needs stay.
 */
export function forTrying(contract) {
  contract.paths['/auth/login'].post.requestBody.content['application/json'].example = development;
  for (const operation of operations(contract)) {
    operation.parameters = operation.parameters?.map((parameter) => own(contract, parameter));
  }
  return contract;
}

function operations({ paths }) {
  return Object.values(paths).flatMap((path) =>
    Object.values(path).filter((one) => one.operationId),
  );
}

/** A parameter of its own: two operations must not share a key. */
function own(contract, parameter) {
  const shared = parameter.$ref?.split('/').at(-1);
  const copy = structuredClone(shared ? contract.components.parameters[shared] : parameter);
  if (copy.name === 'Idempotency-Key') copy.example = crypto.randomUUID();
  else if (!copy.required) {
    delete copy.example;
    delete copy.examples;
  }
  return copy;
}

/** Puts the transaction of the last payment or charge into a request that asks for one. */
export function fillIn(operation) {
  const asked = operation.parameters?.find(({ name }) => name === 'transactionId');
  if (asked && fillIn.transaction) asked.example = fillIn.transaction;
}
