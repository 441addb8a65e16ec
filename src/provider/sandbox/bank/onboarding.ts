/** The opening of accounts: registration, the steps of an applicant, and the bank's decision. */
import { createHash, randomUUID } from 'node:crypto';
import { isCpf } from '../../../domain/tax-id.ts';
import { wrongValidationCode } from '../../errors.ts';
import type {
  CepAddress,
  KycDecision,
  LivenessSession,
  NewPerson,
  RegisteredPerson,
} from '../../provider.ts';
import type { Accounts } from './accounts.ts';
import { type BankResponse, brokenRule, done, type Refused, refused } from './response.ts';
import type { DocumentDigest, Person, PersonStep } from './rows.ts';
import { type KycScript, kycScript } from './scenarios.ts';
import type { BankParts } from './parts.ts';
import type { State } from './state.ts';

/** The code that the bank sends to each person, as providers do on their test hosts. */
const validationCode = 'ABC123';

/** Where a person would prove to be alive; nothing listens there. */
const livenessUrl = 'https://prova-vida.ponte.test';

/** An identity card or a driver's licence, a proof of residence, and a portrait. */
const requiredDocuments: readonly (readonly number[])[] = [[1, 2], [5], [6]];

const requiredSteps = ['address', 'proposal', 'confirmation', 'liveness'] as const;

const accepted = done(null);

/** The account of an applicant; each part is null before the approval. */
type OwnAccount = Pick<KycDecision, 'agency' | 'accountNumber' | 'clientToken'>;

const noAccount: OwnAccount = { agency: null, accountNumber: null, clientToken: null };

/** The opening of accounts. A repeated request changes nothing: the bank keeps what it has. */
export class Onboarding {
  readonly #state: State;
  readonly #accounts: Accounts;
  readonly #clock: BankParts['clock'];

  constructor({ state, accounts, clock }: BankParts) {
    this.#state = state;
    this.#accounts = accounts;
    this.#clock = clock;
  }

  /** Registers a person, once; one CPF is one person, and one e-mail is one account. */
  register(newPerson: NewPerson): BankResponse<RegisteredPerson> {
    const { name, document, phone } = newPerson;
    const email = newPerson.email.trim().toLowerCase();
    const known = this.#state.persons.values().find((person) => person.document === document);
    if (known !== undefined) {
      return done({ pessoaFisicaId: known.id, ...this.#ownAccount(known) });
    }
    if (!isCpf(document)) return brokenRule('InvalidDocument');
    if (this.#state.customer(email).person !== null) return brokenRule('EmailAlreadyRegistered');
    const id = randomUUID();
    const atMs = this.#clock.now().getTime();
    this.#state.save({ row: 'person', id, email, name, document, phone, atMs, steps: [] });
    return done({ pessoaFisicaId: id, ...noAccount });
  }

  submitAddress(personId: string): BankResponse<null> {
    return this.#serve(personId, (person) => this.#addStepOnce(person, { name: 'address' }));
  }

  submitDocument(personId: string, digest: DocumentDigest): BankResponse<null> {
    return this.#serve(personId, (person) => {
      const isKnown = submittedDocuments(person).some(
        ({ tipoDocumento, sha256 }) =>
          tipoDocumento === digest.tipoDocumento && sha256 === digest.sha256,
      );
      return isKnown ? accepted : this.#addStep(person, { name: 'document', ...digest });
    });
  }

  submitProposal(personId: string): BankResponse<null> {
    return this.#serve(personId, (person) => this.#addStepOnce(person, { name: 'proposal' }));
  }

  /** Sends the code to the person; the simulated bank has only one code. */
  requestValidation(personId: string): BankResponse<null> {
    return this.#serve(personId, (person) => this.#addStepOnce(person, { name: 'validation' }));
  }

  confirmValidation(personId: string, code: string): BankResponse<null> {
    return this.#serve(personId, (person) => {
      if (!hasStep(person, 'validation')) return brokenRule('ValidationNotRequested');
      if (code !== validationCode) return brokenRule(wrongValidationCode);
      return this.#addStepOnce(person, { name: 'confirmation' });
    });
  }

  /** Opens the person's session, which in this bank counts as passed. */
  startLivenessCheck(personId: string): BankResponse<LivenessSession> {
    return this.#serve(personId, (person) => {
      const known = person.steps.find((step) => step.name === 'liveness');
      const sessionId = known?.sessionId ?? randomUUID();
      this.#addStepOnce(person, { name: 'liveness', sessionId });
      return done({ sessionId, urlIframe: `${livenessUrl}/${sessionId}` });
    });
  }

  /** The decision. An approved person has the account that the login shows. */
  kyc(personId: string): BankResponse<KycDecision> {
    return this.#serve(personId, (person) =>
      done({ status: kycDecision(person), ...this.#ownAccount(person) }),
    );
  }

  lookUpCep(cep: string): BankResponse<CepAddress> {
    const address = postalCode(cep);
    return address === null ? refused({ kind: 'missing', reason: 'CepNotFound' }) : done(address);
  }

  #ownAccount(person: Person): OwnAccount {
    if (kycDecision(person) !== 'APPROVED') return noAccount;
    const { agency, accountNumber, clientToken } = this.#accounts.of(person.email);
    return { agency, accountNumber, clientToken };
  }

  #serve<T>(personId: string, serve: (person: Person) => T): T | Refused {
    const person = this.#state.persons.get(personId);
    if (person === undefined) return refused({ kind: 'missing', reason: 'PersonNotFound' });
    return serve(person);
  }

  #addStepOnce(person: Person, step: PersonStep): BankResponse<null> {
    return hasStep(person, step.name) ? accepted : this.#addStep(person, step);
  }

  #addStep(person: Person, step: PersonStep): BankResponse<null> {
    this.#state.save({ ...person, steps: [...person.steps, step] });
    return accepted;
  }
}

function hasStep({ steps }: Person, name: PersonStep['name']): boolean {
  return steps.some((step) => step.name === name);
}

/** The documents that the bank has of a person. */
export function submittedDocuments({ steps }: Person): DocumentDigest[] {
  return steps
    .filter((step) => step.name === 'document')
    .map(({ tipoDocumento, sizeBytes, sha256 }) => ({ tipoDocumento, sizeBytes, sha256 }));
}

/** The bank's decision on a person: pending until all required steps are submitted. */
export function kycDecision(person: Person): KycScript {
  const types = new Set(submittedDocuments(person).map(({ tipoDocumento }) => tipoDocumento));
  const isComplete =
    requiredSteps.every((name) => hasStep(person, name)) &&
    requiredDocuments.every((either) => either.some((type) => types.has(type)));
  return isComplete ? kycScript(person.phone) : 'PENDING';
}

export type ContentDigest = Omit<DocumentDigest, 'tipoDocumento'>;

/** Reads the content of a document to its end, and keeps only its length and its hash. */
export async function digestContent(content: AsyncIterable<Uint8Array>): Promise<ContentDigest> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const chunk of content) {
    hash.update(chunk);
    sizeBytes += chunk.length;
  }
  return { sizeBytes, sha256: hash.digest('hex') };
}

const known: readonly CepAddress[] = [
  {
    cep: '01310100',
    logradouro: 'Avenida Paulista',
    bairro: 'Bela Vista',
    cidade: 'São Paulo',
    estado: 'SP',
  },
  {
    cep: '20040002',
    logradouro: 'Avenida Rio Branco',
    bairro: 'Centro',
    cidade: 'Rio de Janeiro',
    estado: 'RJ',
  },
  // The whole island has one code, so the street and the district are not known.
  { cep: '53990000', logradouro: null, bairro: null, cidade: 'Fernando de Noronha', estado: 'PE' },
];

const byCep: ReadonlyMap<string, CepAddress> = new Map(
  known.map((address) => [address.cep, address]),
);

/** The address of a postal code, or null when the bank does not know it. */
function postalCode(cep: string): CepAddress | null {
  return byCep.get(cep) ?? null;
}
