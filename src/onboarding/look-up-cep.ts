import { toAppError } from '../auth/provider-failure.ts';
import { costlyThrottles, countAttempt } from '../auth/throttle.ts';
import type { Context } from '../context/context.ts';
import type { PublicOperation, RequestFacts } from '../context/operation.ts';
import { locateCep, normaliseCep, type LocatedCep } from '../domain/cep.ts';
import { invalidField } from '../errors.ts';
import { ProviderError } from '../provider/errors.ts';
import type { CepAddress } from '../provider/provider.ts';

/** An address starts this many calls to the provider a minute, or a tenth of all its requests. */
const providerCalls = { scope: 'cep-provider', perMinute: 60, share: 1 / 10 } as const;

/**
 * Looks up a CEP to fill in the address form. With local onboarding, or if the provider does not
 * know the CEP, the result is the state, and the street for a few codes.
 *
 * Anyone may ask, so answers are cached, and the calls that are left have a limit of their own.
 */
export const lookUpCep: PublicOperation<'lookUpCep'> = {
  access: 'public',
  async run(context, { input, request }) {
    const cep = normaliseCep(input.path.cep) ?? '';
    const address = context.config.onboardingLocalOnly
      ? located(cep)
      : ((await fromProvider(context, cep, request)) ?? located(cep));
    return { status: 200, body: { cep: { ...address } } };
  },
};

/**
 * @returns null when the provider does not know the CEP.
 * @throws AppError THROTTLED, or the provider's failure.
 */
async function fromProvider(
  context: Context,
  cep: string,
  { callOptions, clientAddress }: RequestFacts,
): Promise<CepAddress | null> {
  const known = context.cepAnswers.find(cep);
  if (known !== undefined) return known;
  await countProviderCall(context, clientAddress);
  return context.cepAnswers.ask(cep, async () => {
    try {
      return await context.provider.lookUpCep({ cep, ...callOptions });
    } catch (error) {
      if (error instanceof ProviderError && error.statusClass === '404') return null;
      throw toAppError(error);
    }
  });
}

/** @throws AppError THROTTLED */
async function countProviderCall(context: Context, address: string): Promise<void> {
  await countAttempt(context, costlyThrottles(context, providerCalls, address));
}

function located(cep: string): LocatedCep {
  const address = locateCep(cep);
  if (address !== null) return address;
  throw invalidField('cep', {
    en: 'This CEP does not exist: it belongs to no state.',
    pt: 'Este CEP não existe: não pertence a nenhum estado.',
  });
}
