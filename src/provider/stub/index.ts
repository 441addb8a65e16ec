/** The provider port over the simulated bank, in process: `PROVIDER_STUB` switches it on. */
import { notUnderstood, ProviderError, timedOut, type ProviderErrorOptions } from '../errors.ts';
import type { CallOptions, Provider, ProviderLogin, ProviderOnboarding } from '../provider.ts';
import type { BankLogin } from './accounts.ts';
import { paymentRefusal, restrictCode, type RefusalCodes } from '../refusals.ts';
import type { Dialects } from '../dialect/dialects.ts';
import {
  refusalStatuses,
  type BankAnswer,
  type Fault,
  type Refusal,
  type RefusalKind,
} from './answer.ts';
import type { Bank } from './bank.ts';
import { digestContent, type Onboarding } from './onboarding.ts';

/** How the HTTP client reports the same answers. */
const refusals: Readonly<Record<RefusalKind, ProviderErrorOptions>> = {
  token: { outcome: 'not_sent', code: 'TOKEN_REFUSED', statusClass: '401' },
  credentials: { outcome: 'rejected', code: 'PROVIDER_REJECTED', statusClass: '4xx' },
  not_found: { outcome: 'rejected', code: 'PIX_KEY_NOT_FOUND', statusClass: '404' },
  missing: { outcome: 'rejected', code: 'PROVIDER_REJECTED', statusClass: '404' },
  rate_limited: { outcome: 'rejected', code: 'PROVIDER_RATE_LIMITED', statusClass: '429' },
  insufficient_funds: { outcome: 'rejected', code: 'INSUFFICIENT_FUNDS', statusClass: '4xx' },
  rule: { outcome: 'rejected', code: 'PROVIDER_REJECTED', statusClass: '4xx' },
};

/** No fault proves that nothing was done, not even a 503. */
const faults: Readonly<Record<Exclude<Fault, 'hang'>, ProviderErrorOptions>> = {
  unavailable: {
    outcome: 'unknown',
    code: 'PROVIDER_UNAVAILABLE',
    statusClass: '5xx',
    retryable: true,
    saysUnavailable: true,
  },
  internal_error: {
    outcome: 'unknown',
    code: 'PROVIDER_UNAVAILABLE',
    statusClass: '5xx',
    retryable: true,
  },
  garbled: { outcome: 'unknown', code: 'PROVIDER_INVALID_RESPONSE', statusClass: 'invalid' },
};

/** An answer that is there at once, unless the bank waits for a webhook, a document or an image. */
type MaybeLater<T> = T | Promise<T>;

/**
 * Creates the provider over the simulated bank. A call takes no time, and its signal ends it when
 * the bank hangs; the wrappers add time-outs, retries and token refresh.
 */
export function createStubProvider(bank: Bank, dialects: Dialects): Provider {
  return {
    login: async (request) => {
      const { email, password } = request;
      return readLogin(await send(request, () => bank.login({ email, password })));
    },
    balance: (request) => send(request, () => bank.balance(request.session.token)),
    statement: async (request) => {
      const { session, start, end } = request;
      const { items } = await send(request, () => bank.statement(session.token, { start, end }));
      const statement = dialects.readStatement(items, false);
      if (statement === null)
        throw notUnderstood(new Error('the dialect of the bank is not active'));
      return statement;
    },
    lookUpKey: (request) => {
      const { session, payerId, key } = request;
      return send(request, () => bank.lookUpKey(session.token, { payerId, key }));
    },
    pay: (request) =>
      send(
        request,
        () => bank.pay(request.session.token, request.order),
        (refusal) => paymentError(refusal, dialects.refusals),
      ),
    createDynamicCharge: (request) =>
      send(request, () => bank.createCharge(request.session.token, 'dynamic', request.order)),
    createStaticCharge: (request) =>
      send(request, () => bank.createCharge(request.session.token, 'static', request.order)),
    listKeys: (request) =>
      send(request, () => bank.listKeys(request.session.token, request.account)),
    createKey: (request) => {
      const { session, keyType, key, account } = request;
      return send(request, () => bank.createKey(session.token, { keyType, key, account }));
    },
    deleteKey: (request) => {
      const { session, key, account } = request;
      return send(request, () => bank.deleteKey(session.token, { key, account }));
    },
    ...stubOnboarding(bank.onboarding),
  };
}

function stubOnboarding(onboarding: Onboarding): ProviderOnboarding {
  return {
    registerPerson: (request) => {
      const { name, email, document, phone } = request;
      return send(request, () => onboarding.register({ name, email, document, phone }));
    },
    submitAddress: (request) => submit(request, () => onboarding.submitAddress(request.personId)),
    submitDocument: (request) =>
      submit(request, async () => {
        const { personId, document } = request;
        const digest = await digestContent(document.content());
        return onboarding.submitDocument(personId, {
          tipoDocumento: document.tipoDocumento,
          ...digest,
        });
      }),
    submitProposal: (request) => submit(request, () => onboarding.submitProposal(request.personId)),
    requestValidation: (request) =>
      submit(request, () => onboarding.requestValidation(request.personId)),
    confirmValidation: (request) =>
      submit(request, () => onboarding.confirmValidation(request.personId, request.codigo)),
    startLivenessCheck: (request) =>
      send(request, () => onboarding.startLivenessCheck(request.personId)),
    kyc: (request) => send(request, () => onboarding.kyc(request.personId)),
    lookUpCep: (request) => send(request, () => onboarding.lookUpCep(request.cep)),
  };
}

/** Sends a request whose answer has no value. */
async function submit(
  call: CallOptions,
  request: () => MaybeLater<BankAnswer<null>>,
): Promise<void> {
  await send(call, request);
}

/** Sends a request to the bank. As in an HTTP client, an abort ends the wait for the answer. */
async function send<T>(
  { signal }: CallOptions,
  request: () => MaybeLater<BankAnswer<T>>,
  toError: (refusal: Refusal) => ProviderError = refusalError,
): Promise<T> {
  if (signal?.aborted) throw timedOut('not_sent', signal.reason);
  const answer = await unlessAborted(attempt(request), signal);
  if (answer.outcome === 'done') return answer.value;
  if (answer.outcome === 'refused') throw toError(answer.refusal);
  if (answer.fault === 'hang') return unlessAborted(new Promise<never>(() => {}), signal);
  throw new ProviderError(faults[answer.fault]);
}

function attempt<T>(request: () => MaybeLater<T>): MaybeLater<T> {
  try {
    const answer = request();
    return answer instanceof Promise ? answer.catch(throwInternalError) : answer;
  } catch (error) {
    return throwInternalError(error);
  }
}

function unlessAborted<T>(answer: MaybeLater<T>, signal: AbortSignal | undefined): MaybeLater<T> {
  if (signal === undefined || !(answer instanceof Promise)) return answer;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(timedOut('unknown', signal.reason));
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}

/** The bank itself failed (its state file could not be written): a 500, maybe after the payment. */
function throwInternalError(cause: unknown): never {
  throw new ProviderError({ ...faults.internal_error, cause });
}

function refusalError({ kind, reason, retryAfterMs }: Refusal): ProviderError {
  return new ProviderError({
    ...refusals[kind],
    reason,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

function paymentError({ kind, reason, retryAfterMs }: Refusal, codes: RefusalCodes): ProviderError {
  const answer = { status: refusalStatuses[kind], code: restrictCode(reason), retryAfterMs };
  return paymentRefusal(answer, codes);
}

/** The tokens of the simulated bank do not expire by time. */
function readLogin({ token, account }: BankLogin): ProviderLogin {
  const { agency, accountNumber, document, companyId, clientToken } = account;
  return {
    token,
    expiresAt: null,
    account: { agency, accountNumber, document, companyId, clientToken },
  };
}
