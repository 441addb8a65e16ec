/** The port over the simulated bank, in process: what the switch `PROVIDER_STUB` turns on. */
import { ProviderError, type ProviderErrorOptions } from '../errors.ts';
import type { CallOptions, Provider, ProviderLogin, ProviderOnboarding } from '../provider.ts';
import type { BankLogin } from './accounts.ts';
import type { BankAnswer, Fault, Refusal, RefusalKind } from './answer.ts';
import type { Bank } from './bank.ts';
import { digestOf } from './content-digest.ts';
import type { Onboarding } from './onboarding.ts';
import type { Soon } from './soon.ts';
import { statement } from './statement.ts';

/** What the real client makes of the same answers over HTTP. */
const refusals: Readonly<Record<RefusalKind, ProviderErrorOptions>> = {
  token: { outcome: 'not_sent', code: 'TOKEN_REFUSED', statusClass: '401' },
  credentials: { outcome: 'rejected', code: 'PROVIDER_REJECTED', statusClass: '4xx' },
  not_found: { outcome: 'rejected', code: 'PIX_KEY_NOT_FOUND', statusClass: '404' },
  missing: { outcome: 'rejected', code: 'PROVIDER_REJECTED', statusClass: '404' },
  rate_limited: { outcome: 'rejected', code: 'PROVIDER_RATE_LIMITED', statusClass: '429' },
  insufficient_funds: { outcome: 'rejected', code: 'INSUFFICIENT_FUNDS', statusClass: '4xx' },
  rule: { outcome: 'rejected', code: 'PROVIDER_REJECTED', statusClass: '4xx' },
};

/** None of them proves that nothing was done, not even the 503 that says so. */
const faults: Readonly<Record<Exclude<Fault, 'hang'>, ProviderErrorOptions>> = {
  unavailable: {
    outcome: 'unknown',
    code: 'PROVIDER_UNAVAILABLE',
    statusClass: '5xx',
    retryable: true,
  },
  internal_error: {
    outcome: 'unknown',
    code: 'PROVIDER_UNAVAILABLE',
    statusClass: '5xx',
    retryable: true,
  },
  garbled: { outcome: 'unknown', code: 'PROVIDER_INVALID_RESPONSE', statusClass: 'invalid' },
};

/**
 * Makes the provider that asks the simulated bank. It takes no time and obeys the call's signal
 * when the bank hangs; its wrappers add time-outs, retries and token refresh.
 */
export function createStubProvider(bank: Bank): Provider {
  return {
    login: async (request) => {
      const { email, password } = request;
      return loginOf(await ask(request, () => bank.login({ email, password })));
    },
    balance: (request) => ask(request, () => bank.balance(request.session.token)),
    statement: async (request) => {
      const { session, start, end } = request;
      return statement(await ask(request, () => bank.statement(session.token, { start, end })));
    },
    lookUpKey: (request) => {
      const { session, payerId, key } = request;
      return ask(request, () => bank.lookUpKey(session.token, { payerId, key }));
    },
    pay: (request) =>
      ask(request, () => bank.pay(request.session.token, request.order)).catch(doubtDuplicate),
    createDynamicCharge: (request) =>
      ask(request, () => bank.createCharge(request.session.token, 'dynamic', request.order)),
    createStaticCharge: (request) =>
      ask(request, () => bank.createCharge(request.session.token, 'static', request.order)),
    listKeys: (request) =>
      ask(request, () => bank.listKeys(request.session.token, request.account)),
    createKey: (request) => {
      const { session, keyType, key, account } = request;
      return ask(request, () => bank.createKey(session.token, { keyType, key, account }));
    },
    deleteKey: (request) => {
      const { session, key, account } = request;
      return ask(request, () => bank.deleteKey(session.token, { key, account }));
    },
    ...stubOnboarding(bank.onboarding),
  };
}

function stubOnboarding(desk: Onboarding): ProviderOnboarding {
  return {
    registerPerson: (request) => {
      const { name, email, document, phone } = request;
      return ask(request, () => desk.register({ name, email, document, phone }));
    },
    submitAddress: (request) => take(request, () => desk.submitAddress(request.personId)),
    submitDocument: (request) =>
      take(request, async () => {
        const { personId, document } = request;
        const digest = await digestOf(document.content());
        return desk.submitDocument(personId, {
          tipoDocumento: document.tipoDocumento,
          ...digest,
        });
      }),
    submitProposal: (request) => take(request, () => desk.submitProposal(request.personId)),
    requestValidation: (request) => take(request, () => desk.requestValidation(request.personId)),
    confirmValidation: (request) =>
      take(request, () => desk.confirmValidation(request.personId, request.codigo)),
    startLivenessCheck: (request) => ask(request, () => desk.startLivenessCheck(request.personId)),
    kyc: (request) => ask(request, () => desk.kyc(request.personId)),
    lookUpCep: (request) => ask(request, () => desk.lookUpCep(request.cep)),
  };
}

/** Asks for something that is answered by being done. */
async function take(call: CallOptions, question: () => Promise<BankAnswer<null>>): Promise<void> {
  await ask(call, question);
}

/** Asks the bank and waits no longer than the signal allows, as a client on a wire would. */
async function ask<T>({ signal }: CallOptions, question: () => Soon<BankAnswer<T>>): Promise<T> {
  if (signal?.aborted) throw timedOut('not_sent', signal);
  const answer = await unlessAborted(answerTo(question), signal);
  if (answer.outcome === 'done') return answer.value;
  if (answer.outcome === 'refused') throw refusalError(answer.refusal);
  if (answer.fault === 'hang') return unlessAborted(new Promise<never>(() => {}), signal);
  throw new ProviderError(faults[answer.fault]);
}

function answerTo<T>(question: () => Soon<T>): Soon<T> {
  try {
    const answer = question();
    return answer instanceof Promise ? answer.catch(brokenDown) : answer;
  } catch (error) {
    return brokenDown(error);
  }
}

function unlessAborted<T>(answer: Soon<T>, signal: AbortSignal | undefined): Soon<T> {
  if (signal === undefined || !(answer instanceof Promise)) return answer;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(timedOut('unknown', signal));
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

function timedOut(outcome: 'not_sent' | 'unknown', signal: AbortSignal): ProviderError {
  return new ProviderError({
    outcome,
    code: 'PROVIDER_TIMEOUT',
    statusClass: 'timeout',
    retryable: true,
    cause: signal.reason,
  });
}

/** The bank itself broke (its journal could not be written): a 500 that may come after the deed. */
function brokenDown(cause: unknown): never {
  throw new ProviderError({ ...faults.internal_error, cause });
}

function refusalError({ kind, reason, retryAfterMs }: Refusal): ProviderError {
  return new ProviderError({
    ...refusals[kind],
    reason,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/**
 * That a payment is there already is no proof that ours was not made: its ids are ours alone. The
 * client of the real provider reads such a refusal in the same way.
 */
function doubtDuplicate(error: unknown): never {
  if (error instanceof ProviderError && error.reason?.startsWith('Duplicated')) {
    const { code, statusClass, reason } = error;
    throw new ProviderError({ outcome: 'unknown', code, statusClass, reason });
  }
  throw error;
}

/** The simulated bank's tokens have no end of their own, so it does not say one. */
function loginOf({ token, account }: BankLogin): ProviderLogin {
  const { agency, accountNumber, document, companyId, clientToken } = account;
  return {
    token,
    expiresAt: null,
    account: { agency, accountNumber, document, companyId, clientToken },
  };
}
