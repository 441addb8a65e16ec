/** Values that nothing else in the tests has: where one of them shows up, it was let out. */

/** The person who does everything. */
export const person = {
  name: 'Zuleica Quatrini Vasconcelos',
  email: 'zuleica.quatrini@pessoa-real.example',
  password: 'Senha-Nunca-Vista-9137',
  document: '39053344705',
  phone: '+5521976543210',
} as const;

/** Whom the person pays, and who pays the person. */
export const others = {
  payeeEmail: 'destino.oculto@chave-pix.example',
  payeeDocument: '86288366757',
  payeePhone: '+5531988776655',
  payeeEvp: '7d9f0335-8dcc-4054-9bf9-0dbd61d36906',
  payerName: 'Tancredo Abelhudo Furtado',
  payerDocument: '71428793860',
  company: 'Padaria Sigilosa Ltda',
  companyDocument: '11222333000181',
  applicantName: 'Hermengarda Pitanga Seabra',
  applicantEmail: 'hermengarda@candidata.example',
  applicantDocument: '15350946056',
  // Its end makes the simulated bank reject the person.
  applicantPhone: '+5541965432102',
} as const;

/** What was said beside the money, and what the service keeps for itself. */
export const secrets = {
  description: 'Aluguel atrasado da tia Noemia',
  chargeNote: 'Cobranca da festa junina',
  additionalName: 'Apelido',
  additionalValue: 'Bolinha-de-Gude-77',
  idempotencyKey: 'chave-so-do-cliente-5581',
  webhookSecret: 'segredo-do-webhook-7351',
  wrongSecret: 'segredo-errado-do-webhook-9942',
  wrongToken: 'bearer-que-ninguem-emitiu-4417',
  wrongPassword: 'Senha-Errada-Porem-Minha-2208',
  street: 'Travessa dos Segredos Invisiveis',
  cep: '20040002',
  validationCode: 'KQZ913',
  documentContent: 'conteudo-reservado-do-documento-6620',
  fileName: 'rg-da-hermengarda.pdf',
} as const;

/** How people and systems punctuate a CPF, a CNPJ, a phone and a CEP. */
const punctuations: readonly (readonly [RegExp, string])[] = [
  [/^(\d{3})(\d{3})(\d{3})(\d{2})$/, '$1.$2.$3-$4'],
  [/^(\d{2})(\d{3})(\d{3})(\d{4})(\d{2})$/, '$1.$2.$3/$4-$5'],
  [/^\+55(\d{2})(\d{5})(\d{4})$/, '($1) $2-$3'],
  [/^\+55(\d{2})(\d{5})(\d{4})$/, '$1$2$3'],
  [/^\+55(\d{2})(\d{5})(\d{4})$/, '$2-$3'],
  [/^(\d{5})(\d{3})$/, '$1-$2'],
];

/** The ways in which a value may be written: whole or in words, punctuated, encoded. */
export function listForms(value: string): string[] {
  const punctuated = punctuations
    .filter(([form]) => form.test(value))
    .map(([form, written]) => value.replace(form, written));
  const words = value.split(' ').filter((word) => word.length >= 6);
  const plain = [value, ...punctuated, ...words];
  const encoded = plain.flatMap((text) => [
    encodeURIComponent(text),
    Buffer.from(text).toString('base64').replace(/=+$/, ''),
  ]);
  return [...new Set([...plain, ...encoded].map((text) => text.toLowerCase()))];
}

/** The values that must not come out, with what each of them is; more are learnt on the way. */
export class Hidden {
  readonly #forms = new Map<string, string>();

  constructor(...groups: readonly Readonly<Record<string, string>>[]) {
    for (const [what, value] of groups.flatMap((group) => Object.entries(group))) {
      this.add(what, value);
    }
  }

  add(what: string, value: string): void {
    for (const form of listForms(value)) this.#forms.set(form, what);
  }

  /** What a text lets out: `document: 390.533.447-05`. */
  foundIn(text: string): string[] {
    const lower = text.toLowerCase();
    return [...this.#forms]
      .filter(([form]) => lower.includes(form))
      .map(([form, what]) => `${what}: ${form}`);
  }
}
