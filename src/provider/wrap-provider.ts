/** Puts the same behaviour around every method of the port. */
import type { Provider, ProviderMethod, ProviderRequest } from './provider.ts';

/** One method of the port. */
export type ProviderCall<Request extends ProviderRequest, Answer> = (
  request: Request,
) => Promise<Answer>;

/** Makes the call that replaces a method of the port. */
export type CallWrapper = <Request extends ProviderRequest, Answer>(
  method: ProviderMethod,
  call: ProviderCall<Request, Answer>,
) => ProviderCall<Request, Answer>;

/** Makes a provider whose every method is wrapped. */
export function wrapProvider(provider: Provider, wrap: CallWrapper): Provider {
  return {
    login: wrap('login', (request) => provider.login(request)),
    balance: wrap('balance', (request) => provider.balance(request)),
    statement: wrap('statement', (request) => provider.statement(request)),
    lookUpKey: wrap('lookUpKey', (request) => provider.lookUpKey(request)),
    pay: wrap('pay', (request) => provider.pay(request)),
    createDynamicCharge: wrap('createDynamicCharge', (request) =>
      provider.createDynamicCharge(request),
    ),
    createStaticCharge: wrap('createStaticCharge', (request) =>
      provider.createStaticCharge(request),
    ),
    listKeys: wrap('listKeys', (request) => provider.listKeys(request)),
    createKey: wrap('createKey', (request) => provider.createKey(request)),
    deleteKey: wrap('deleteKey', (request) => provider.deleteKey(request)),
    registerPerson: wrap('registerPerson', (request) => provider.registerPerson(request)),
    submitAddress: wrap('submitAddress', (request) => provider.submitAddress(request)),
    submitDocument: wrap('submitDocument', (request) => provider.submitDocument(request)),
    submitProposal: wrap('submitProposal', (request) => provider.submitProposal(request)),
    requestValidation: wrap('requestValidation', (request) => provider.requestValidation(request)),
    confirmValidation: wrap('confirmValidation', (request) => provider.confirmValidation(request)),
    startLivenessCheck: wrap('startLivenessCheck', (request) =>
      provider.startLivenessCheck(request),
    ),
    kyc: wrap('kyc', (request) => provider.kyc(request)),
    lookUpCep: wrap('lookUpCep', (request) => provider.lookUpCep(request)),
  };
}
