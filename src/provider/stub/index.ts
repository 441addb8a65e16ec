/** The port over the simulated bank, in process: what the switch `PROVIDER_STUB` turns on. */
import { ProviderError, type ProviderErrorOptions } from '../outcome.ts';
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
 * Makes the provider that asks the simulated bank. It takes no time, it honours the call's signal
 * when the bank hangs, and it leaves time-outs, retries and renewed tokens to what wraps it.
 */
export function createStubProvider(bank: Bank): Provider {
  return {
    login: async (credentials, options) =>
      loginOf(await ask(options, () => bank.login(credentials))),
    balance: ({ token }, options) => ask(options, () => bank.balance(token)),
    statement: async ({ token }, range, options) =>
      statement(await ask(options, () => bank.statement(token, range))),
    lookUpKey: ({ token }, lookUp, options) => ask(options, () => bank.lookUpKey(token, lookUp)),
    pay: ({ token }, order, options) =>
      ask(options, () => bank.pay(token, order)).catch(doubtDuplicate),
    createDynamicCharge: ({ token }, order, options) =>
      ask(options, () => bank.createCharge(token, 'dynamic', order)),
    createStaticCharge: ({ token }, order, options) =>
      ask(options, () => bank.createCharge(token, 'static', order)),
    listKeys: ({ token }, account, options) => ask(options, () => bank.listKeys(token, account)),
    createKey: ({ token }, key, options) => ask(options, () => bank.createKey(token, key)),
    deleteKey: ({ token }, key, options) => ask(options, () => bank.deleteKey(token, key)),
    ...stubOnboarding(bank.onboarding),
  };
}

function stubOnboarding(desk: Onboarding): ProviderOnboarding {
  return {
    registerPerson: (person, options) => ask(options, () => desk.register(person)),
    submitAddress: (id, _address, options) => take(options, () => desk.submitAddress(id)),
    submitDocument: (id, document, options) =>
      take(options, async () => {
        const digest = await digestOf(document.content());
        return desk.submitDocument(id, { tipoDocumento: document.tipoDocumento, ...digest });
      }),
    submitProposal: (id, _proposal, options) => take(options, () => desk.submitProposal(id)),
    requestValidation: (id, _tipo, options) => take(options, () => desk.requestValidation(id)),
    confirmValidation: (id, { codigo }, options) =>
      take(options, () => desk.confirmValidation(id, codigo)),
    startLivenessCheck: (id, options) => ask(options, () => desk.startLivenessCheck(id)),
    kyc: (id, options) => ask(options, () => desk.kyc(id)),
    lookUpCep: (cep, options) => ask(options, () => desk.lookUpCep(cep)),
  };
}

/** Asks for something that is answered by being done. */
async function take(
  options: CallOptions | undefined,
  question: () => Promise<BankAnswer<null>>,
): Promise<void> {
  await ask(options, question);
}

/** Asks the bank and waits no longer than the signal allows, as a client on a wire would. */
async function ask<T>(
  options: CallOptions | undefined,
  question: () => Soon<BankAnswer<T>>,
): Promise<T> {
  const signal = options?.signal;
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
