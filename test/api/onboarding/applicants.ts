/** People who apply for an account, and what they give step by step. */
import assert from 'node:assert/strict';
import { cpfCheckDigits } from '../../../src/domain/tax-id.ts';
import type { Step, StepName } from '../../../src/domain/onboarding.ts';
import type { TestResponse, TestApp, TestRequest } from '../../support/app.ts';
import { eventually } from '../../support/eventually.ts';
import { password } from '../../support/factories.ts';
import { makePdf } from '../../support/documents.ts';
import { fieldPart, filePart, formType, makeForm } from '../../support/forms.ts';

let born = 0;

export interface PersonBody {
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly password_confirmation: string;
  readonly document: string;
  readonly phone: string;
}

/** A person whom no other test has. */
export function newPerson(changes: Partial<PersonBody> = {}): PersonBody {
  born += 1;
  const base = String(100_000_000 + born * 7_919);
  return {
    name: 'Ana Souza',
    email: `applicant${born}@example.com`,
    password,
    password_confirmation: password,
    document: base + cpfCheckDigits(base),
    phone: '+5511987654321',
    ...changes,
  };
}

export const addressBody = {
  cep: '01310-100',
  logradouro: 'Avenida Paulista',
  numero: '1000',
  bairro: 'Bela Vista',
  cidade: 'São Paulo',
  estado: 'sp',
} as const;

/** An application as it is answered. */
export interface Shown {
  readonly id: string;
  readonly user_id: number;
  readonly status: string;
  readonly kyc_status: string | null;
  readonly conta_bancaria_criada: boolean;
  readonly provider: Readonly<Record<string, string | null>>;
  readonly prova_vida: Readonly<Record<string, string | null>>;
  readonly steps: readonly {
    readonly name: StepName;
    readonly status: Step['status'];
    readonly attempts: number;
    readonly updated_at: string | null;
    readonly error: string | null;
  }[];
}

/** Registers a person. */
export async function register(app: TestApp, person: PersonBody = newPerson()): Promise<Shown> {
  const { status, body } = await app.call('/onboarding/pf', { body: person });
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

/** Gives a step of an application; without a body the request has none. */
export function give(
  app: TestApp,
  id: string,
  { step: path, body, ...request }: TestRequest & { readonly step: string },
): Promise<TestResponse> {
  return app.call(`/onboarding/${id}/${path}`, {
    method: 'POST',
    ...(body !== undefined && { body }),
    ...request,
  });
}

/** Uploads a document. */
export function upload(app: TestApp, id: string, type: number): Promise<TestResponse> {
  const body = makeForm(fieldPart(String(type)), filePart(makePdf(`document ${type}`)));
  return give(app, id, { step: 'documents', body, headers: { 'content-type': formType } });
}

export const enoughDocuments = [2, 5, 6] as const;

/** Gives every step but the confirmation of the code; each is checked to be taken. */
export async function giveAllButCode(app: TestApp, id: string): Promise<void> {
  await taken(give(app, id, { step: 'address', body: addressBody }), 201);
  for (const type of enoughDocuments) await taken(upload(app, id, type), 201);
  await taken(give(app, id, { step: 'proposal' }), 202);
  await taken(give(app, id, { step: 'electronic-validation' }), 202);
  await taken(give(app, id, { step: 'prova-vida' }), 202);
}

/** Gives everything that an application needs. */
export async function giveAll(app: TestApp, id: string): Promise<void> {
  await giveAllButCode(app, id);
  await taken(give(app, id, { step: 'electronic-validation/confirm' }), 202);
}

async function taken(pending: Promise<TestResponse>, expected: number): Promise<void> {
  const { status, body } = await pending;
  assert.equal(status, expected, JSON.stringify(body));
}

/** The current application. */
export async function shown(app: TestApp, id: string): Promise<Shown> {
  const { status, body } = await app.call(`/onboarding/${id}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

/** Asks for the decision. */
export async function readKyc(app: TestApp, id: string): Promise<Shown> {
  const { status, body } = await app.call(`/onboarding/${id}/kyc`);
  assert.equal(status, 200, JSON.stringify(body));
  return body.application;
}

/** The state of every step: `address done`, `proposal failed PROVIDER_NOT_FOUND`. */
export function steps({ steps: all }: Pick<Shown, 'steps'>): string[] {
  return all.map(({ name, status, error }) => [name, status, error].filter(Boolean).join(' '));
}

/** One step of an application. */
export function step(application: Shown, name: StepName) {
  return application.steps.find((one) => one.name === name) ?? assert.fail(`no step ${name}`);
}

/** The jobs of an applicant's steps, oldest first: `address queued`. */
export async function readJobs(app: TestApp, { user_id: userId }: Shown): Promise<string[]> {
  const rows = await app.rows<{ job: string }>(
    `select concat(payload->>'step', ' ', status) as job from jobs
      where kind = 'onboarding-step' and (payload->>'userId')::int = $1 order by id`,
    [userId],
  );
  return rows.map(({ job }) => job);
}

/** Waits until the jobs of an applicant that are due have run, and gives the application then. */
export async function settled(app: TestApp, application: Shown): Promise<Shown> {
  // The loop may have set its alarm after the test moved the clock past it.
  await app.rows(`select pg_notify('ponte_jobs', '')`);
  await eventually(async () => {
    const [open] = await app.rows<{ count: number }>(
      `select count(*)::int from jobs
        where kind = 'onboarding-step' and (payload->>'userId')::int = $1
          and (status = 'running' or (status = 'queued' and run_at <= $2))`,
      [application.user_id, app.clock.now()],
    );
    return open?.count === 0;
  }, 'the jobs of an applicant');
  return shown(app, application.id);
}

/** The calls of an onboarding that the simulated bank takes, in their order. */
export const bankMethods = [
  'register',
  'submitAddress',
  'submitDocument',
  'submitProposal',
  'requestValidation',
  'confirmValidation',
  'startLivenessCheck',
  'kyc',
] as const;
