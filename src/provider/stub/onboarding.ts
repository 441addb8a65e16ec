/** The bank's desk for new customers: registration, what it wants to see of them, its decision. */
import { randomUUID } from 'node:crypto';
import { isCpf } from '../../domain/tax-id.ts';
import { WRONG_VALIDATION_CODE } from '../errors.ts';
import type {
  CepAddress,
  KycDecision,
  LivenessSession,
  NewPerson,
  RegisteredPerson,
} from '../provider.ts';
import type { Accounts } from './accounts.ts';
import { type BankAnswer, brokenRule, done, type Done, refused, type Refused } from './answer.ts';
import type { Books } from './books.ts';
import type { DocumentMark, PersonStep } from './entries.ts';
import { decisionOn, documentsOf, hasTaken, livenessOf, type Person } from './persons.ts';
import { postalCode } from './postal-codes.ts';

export interface OnboardingOptions {
  readonly books: Books;
  readonly accounts: Accounts;
}

/** The code that the bank sends to everybody, as providers do where they are tested. */
const VALIDATION_CODE = 'ABC123';

/** Where a person would prove to be alive; nothing listens there. */
const LIVENESS_URL = 'https://prova-vida.ponte.test';

const NO_SUCH_PERSON = refused({ kind: 'missing', reason: 'PersonNotFound' });

const TAKEN = done(null);

/** What the account of an applicant is, as far as there is one. */
type OwnAccount = Pick<KycDecision, 'agency' | 'accountNumber' | 'clientToken'>;

const noAccount: OwnAccount = { agency: null, accountNumber: null, clientToken: null };

/** The opening of accounts. Whatever is repeated changes nothing: the bank keeps what it has. */
export class Onboarding {
  readonly #books: Books;
  readonly #accounts: Accounts;

  constructor({ books, accounts }: OnboardingOptions) {
    this.#books = books;
    this.#accounts = accounts;
  }

  /** Registers a person, once; one CPF is one person, and one e-mail is one account. */
  async register(newPerson: NewPerson): Promise<BankAnswer<RegisteredPerson>> {
    const { persons } = this.#books;
    const { name, document, phone } = newPerson;
    const email = newPerson.email.trim().toLowerCase();
    const known = persons.ofDocument(document);
    if (known !== null) return done(this.#registered(known));
    if (!isCpf(document)) return brokenRule('InvalidDocument');
    if (persons.ofEmail(email) !== null) return brokenRule('EmailAlreadyRegistered');
    const id = randomUUID();
    const fact = this.#books.fact(email);
    await this.#books.record({ entry: 'person', ...fact, id, name, document, phone });
    return done({ pessoaFisicaId: id, ...noAccount });
  }

  submitAddress(personId: string): Promise<BankAnswer<null>> {
    return this.#takeOnce(personId, { name: 'address' });
  }

  async submitDocument(personId: string, mark: DocumentMark): Promise<BankAnswer<null>> {
    return this.#serve(personId, async (person) => {
      const isThere = documentsOf(person).some(
        ({ tipoDocumento, sha256 }) =>
          tipoDocumento === mark.tipoDocumento && sha256 === mark.sha256,
      );
      return isThere ? TAKEN : this.#take(person, { name: 'document', ...mark });
    });
  }

  submitProposal(personId: string): Promise<BankAnswer<null>> {
    return this.#takeOnce(personId, { name: 'proposal' });
  }

  /** Sends the code to the person; here, nobody has to wait for it. */
  requestValidation(personId: string): Promise<BankAnswer<null>> {
    return this.#takeOnce(personId, { name: 'validation' });
  }

  async confirmValidation(personId: string, code: string): Promise<BankAnswer<null>> {
    return this.#serve(personId, async (person) => {
      if (!hasTaken(person, 'validation')) return brokenRule('ValidationNotRequested');
      if (code !== VALIDATION_CODE) return brokenRule(WRONG_VALIDATION_CODE);
      return this.#takeOnce(personId, { name: 'confirmation' });
    });
  }

  /** Opens the person's session, which in this bank counts as passed. */
  async startLivenessCheck(personId: string): Promise<BankAnswer<LivenessSession>> {
    return this.#serve(personId, async (person) => {
      const sessionId = livenessOf(person) ?? randomUUID();
      await this.#takeOnce(personId, { name: 'liveness', sessionId });
      return done({ sessionId, urlIframe: `${LIVENESS_URL}/${sessionId}` });
    });
  }

  /** The decision. The account of an approval is the one that the person's login shows. */
  kyc(personId: string): BankAnswer<KycDecision> {
    return this.#serve(personId, (person) =>
      done({ status: decisionOn(person), ...this.#accountOf(person) }),
    );
  }

  lookUpCep(cep: string): BankAnswer<CepAddress> {
    const address = postalCode(cep);
    return address === null ? refused({ kind: 'missing', reason: 'CepNotFound' }) : done(address);
  }

  #registered(person: Person): RegisteredPerson {
    return { pessoaFisicaId: person.entry.id, ...this.#accountOf(person) };
  }

  #accountOf(person: Person): OwnAccount {
    if (decisionOn(person) !== 'APPROVED') return noAccount;
    const { agency, accountNumber, clientToken } = this.#accounts.of(person.entry.email);
    return { agency, accountNumber, clientToken };
  }

  #serve<T>(personId: string, serve: (person: Person) => T): T | Refused {
    const person = this.#books.persons.of(personId);
    return person === null ? NO_SUCH_PERSON : serve(person);
  }

  async #takeOnce(personId: string, step: PersonStep): Promise<BankAnswer<null>> {
    return this.#serve(personId, async (person) =>
      hasTaken(person, step.name) ? TAKEN : this.#take(person, step),
    );
  }

  async #take({ entry }: Person, step: PersonStep): Promise<Done<null>> {
    const fact = this.#books.fact(entry.email);
    await this.#books.record({ entry: 'person_step', ...fact, personId: entry.id, step });
    return TAKEN;
  }
}
