/** The people who ask the bank for an account, and how far each of them has come. */
import type { DocumentMark, PersonEntry, PersonStep, PersonStepEntry } from './entries.ts';
import { type KycScript, kycScript } from './scenarios.ts';

/** A person, and the steps that were taken. */
export interface Person {
  readonly entry: PersonEntry;
  readonly steps: readonly PersonStep[];
}

/** The bank wants an identity card or a driver's licence, a proof of residence and a portrait. */
const WANTED_DOCUMENTS: readonly (readonly number[])[] = [[1, 2], [5], [6]];

const wantedSteps = ['address', 'proposal', 'confirmation', 'liveness'] as const;

/** The persons, by everything that tells one from another. */
export class Persons {
  readonly #persons = new Map<string, { entry: PersonEntry; steps: PersonStep[] }>();
  readonly #byDocument = new Map<string, Person>();
  readonly #byEmail = new Map<string, Person>();

  /** Oldest first. */
  all(): Person[] {
    return [...this.#persons.values()];
  }

  of(id: string): Person | null {
    return this.#persons.get(id) ?? null;
  }

  ofDocument(document: string): Person | null {
    return this.#byDocument.get(document) ?? null;
  }

  /** @param email lower case. */
  ofEmail(email: string): Person | null {
    return this.#byEmail.get(email) ?? null;
  }

  applyPerson(entry: PersonEntry): void {
    const person = { entry, steps: [] };
    this.#persons.set(entry.id, person);
    this.#byDocument.set(entry.document, person);
    this.#byEmail.set(entry.email, person);
  }

  applyStep({ personId, step }: PersonStepEntry): void {
    this.#persons.get(personId)?.steps.push(step);
  }
}

/** Whether the person has taken a step of that name. */
export function hasTaken({ steps }: Person, name: PersonStep['name']): boolean {
  return steps.some((step) => step.name === name);
}

/** The documents that the bank has of a person. */
export function documentsOf({ steps }: Person): DocumentMark[] {
  return steps
    .filter((step) => step.name === 'document')
    .map(({ tipoDocumento, sizeBytes, sha256 }) => ({ tipoDocumento, sizeBytes, sha256 }));
}

/** The liveness session of a person, or null before there is one. */
export function livenessOf({ steps }: Person): string | null {
  return steps.find((step) => step.name === 'liveness')?.sessionId ?? null;
}

/** What the bank decides of a person: nothing before it has all that it wants. */
export function decisionOn(person: Person): KycScript {
  const types = new Set(documentsOf(person).map(({ tipoDocumento }) => tipoDocumento));
  const isComplete =
    wantedSteps.every((name) => hasTaken(person, name)) &&
    WANTED_DOCUMENTS.every((either) => either.some((type) => types.has(type)));
  return isComplete ? kycScript(person.entry.phone) : 'PENDING';
}
