/** An applicant for an account, for the tests. */
import { cpfCheckDigits } from '../../../src/domain/tax-id.ts';
import type { Proposal } from '../../../src/domain/onboarding.ts';
import type { Address } from '../../../src/domain/person.ts';
import type {
  CallOptions,
  NewPerson,
  PersonDocument,
  Provider,
} from '../../../src/provider/provider.ts';

export const applicant: NewPerson = {
  name: 'João da Conceição',
  email: 'Joao@Example.com',
  document: `529982247${cpfCheckDigits('529982247')}`,
  phone: '+5511987654321',
};

export const address: Address = {
  cep: '01310100',
  logradouro: 'Avenida Paulista',
  numero: '1000',
  complemento: null,
  bairro: 'Bela Vista',
  cidade: 'São Paulo',
  estado: 'SP',
};

export const proposal: Proposal = {
  tipo: 'CONTA_CORRENTE',
  observacoes: null,
  valorSolicitado: null,
};

interface Wish {
  readonly tipoDocumento?: number;
  readonly contentType?: PersonDocument['contentType'];
  readonly chunks?: readonly Uint8Array[];
  /** What it says of its length, if that is wrong. */
  readonly sizeBytes?: number;
  /** Fails after its chunks. */
  readonly fault?: Error;
}

export interface TestDocument extends PersonDocument {
  /** How often it was opened and released. */
  readonly opened: { times: number; closed: number };
}

export function makeDocument(wish: Wish = {}): TestDocument {
  const chunks = wish.chunks ?? [Buffer.from('%PDF-1.7 '), Buffer.from([0, 13, 10, 255])];
  const opened = { times: 0, closed: 0 };
  return {
    tipoDocumento: wish.tipoDocumento ?? 1,
    contentType: wish.contentType ?? 'application/pdf',
    sizeBytes: wish.sizeBytes ?? chunks.reduce((sum, { length }) => sum + length, 0),
    opened,
    async *content() {
      opened.times += 1;
      try {
        yield* chunks;
        if (wish.fault) throw wish.fault;
      } finally {
        opened.closed += 1;
      }
    },
  };
}

/** Every step after the registration, by its name. */
export function parseSteps(
  provider: Provider,
  id: string,
  options?: CallOptions,
): Record<string, () => Promise<unknown>> {
  const document = (tipoDocumento: number) => () =>
    provider.submitDocument({
      personId: id,
      document: makeDocument({ tipoDocumento }),
      ...options,
    });
  return {
    address: () => provider.submitAddress({ personId: id, address, ...options }),
    licence: document(2),
    residence: document(5),
    selfie: document(6),
    proposal: () => provider.submitProposal({ personId: id, proposal, ...options }),
    validation: () => provider.requestValidation({ personId: id, tipo: 1, ...options }),
    confirmation: () =>
      provider.confirmValidation({ personId: id, codigo: 'ABC123', tipo: 1, ...options }),
    liveness: () => provider.startLivenessCheck({ personId: id, ...options }),
  };
}

/** Registers a person and submits all steps. @returns the person's id. */
export async function applied(
  provider: Provider,
  changes: Partial<NewPerson> = {},
): Promise<string> {
  const person = await provider.registerPerson({ ...applicant, ...changes });
  const id = person.pessoaFisicaId;
  for (const step of Object.values(parseSteps(provider, id))) await step();
  return id;
}
