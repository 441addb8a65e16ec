import { locateCep, type LocatedCep } from '../../domain/cep.ts';
import { invalidField } from '../../errors.ts';
import { answered } from '../../services/provider-failure.ts';
import type { PublicOperation } from '../operation.ts';

/**
 * What is known of a CEP, to fill in the address form. Without the provider's onboarding that is
 * the state, and the street of a few codes.
 */
export const lookUpCep: PublicOperation<'lookUpCep'> = {
  access: 'public',
  async run(context, { input, request }) {
    const cep = input.path.cep.replace('-', '');
    const address = context.config.onboardingLocalOnly
      ? located(cep)
      : await answered(context.provider.lookUpCep(cep, request.callOptions));
    return { status: 200, body: { cep: { ...address } } };
  },
};

function located(cep: string): LocatedCep {
  const address = locateCep(cep);
  if (address !== null) return address;
  throw invalidField('cep', {
    en: 'This CEP does not exist: it belongs to no state.',
    pt: 'Este CEP não existe: não pertence a nenhum estado.',
  });
}
