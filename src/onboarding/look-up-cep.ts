import type { Context } from '../context/context.ts';
import { locateCep, type LocatedCep } from '../domain/cep.ts';
import { invalidField } from '../errors.ts';
import { ProviderError } from '../provider/errors.ts';
import type { CallOptions, CepAddress } from '../provider/provider.ts';
import { toAppError } from '../auth/provider-failure.ts';
import type { PublicOperation } from '../context/operation.ts';

/**
 * Looks up a CEP to fill in the address form. With local onboarding, or if the provider does not
 * know the CEP, the result is the state, and the street for a few codes.
 */
export const lookUpCep: PublicOperation<'lookUpCep'> = {
  access: 'public',
  async run(context, { input, request }) {
    const cep = input.path.cep.replace('-', '');
    const address = context.config.onboardingLocalOnly
      ? located(cep)
      : ((await fromProvider(context, cep, request.callOptions)) ?? located(cep));
    return { status: 200, body: { cep: { ...address } } };
  },
};

/** @returns null when the provider does not know the CEP. */
async function fromProvider(
  { provider }: Context,
  cep: string,
  options: CallOptions,
): Promise<CepAddress | null> {
  try {
    return await provider.lookUpCep({ cep, ...options });
  } catch (error) {
    if (error instanceof ProviderError && error.statusClass === '404') return null;
    throw toAppError(error);
  }
}

function located(cep: string): LocatedCep {
  const address = locateCep(cep);
  if (address !== null) return address;
  throw invalidField('cep', {
    en: 'This CEP does not exist: it belongs to no state.',
    pt: 'Este CEP não existe: não pertence a nenhum estado.',
  });
}
