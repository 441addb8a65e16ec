/** A person who applies for an account, step by step, well and badly. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { TestResponse } from '../../support/app.ts';
import { makePdf } from '../../support/documents.ts';
import { eventually } from '../../support/eventually.ts';
import { fieldPart, filePart, formType, makeForm } from '../../support/forms.ts';
import { responds, type Flow } from './flows.ts';
import { others, person, secrets } from './values.ts';
import type { World } from './world.ts';

export const applicant = {
  name: others.applicantName,
  email: others.applicantEmail,
  document: others.applicantDocument,
  phone: others.applicantPhone,
  password: person.password,
  password_confirmation: person.password,
} as const;

const address = {
  cep: secrets.cep,
  logradouro: secrets.street,
  numero: '1',
  bairro: 'Centro',
  cidade: 'Rio de Janeiro',
  estado: 'RJ',
} as const;

function give(world: World, step: string, body: unknown = {}): Promise<TestResponse> {
  return world.call(`/onboarding/${world.applicationId}/${step}`, { method: 'POST', body });
}

function upload(
  world: World,
  type: string,
  makeFile: (content: string) => string | Buffer,
): Promise<TestResponse> {
  const body = makeForm(
    fieldPart(type),
    filePart(makeFile(secrets.documentContent), { filename: secrets.fileName }),
  );
  return world.call(`/onboarding/${world.applicationId}/documents`, {
    body,
    headers: { 'content-type': formType },
  });
}

/** Waits until the jobs that carry the steps to the provider have run. */
export function stepsAreCarriedOut({ app }: World): Promise<unknown> {
  return eventually(async () => {
    const [open] = await app.rows<{ jobs: number }>(
      `select count(*)::int as jobs from jobs
        where kind = 'onboarding-step'
          and (status = 'running' or (status = 'queued' and run_at <= $1))`,
      [app.clock.now()],
    );
    return open?.jobs === 0;
  }, 'the jobs of the steps');
}

export const onboardingFlows: readonly Flow[] = [
  {
    name: 'a registration, a second one of the same person, and a malformed one',
    async run(world) {
      const { body } = await responds(201, world.call('/onboarding/pf', { body: applicant }));
      world.applicationId = body.id;
      world.hidden.add('application id', world.applicationId);
      await responds(422, world.call('/onboarding/pf', { body: applicant }));
      const wrong = { ...applicant, document: person.name, email: person.document, phone: [] };
      await responds(422, world.call('/onboarding/pf', { body: wrong }));
      await responds(422, world.call('/accounts/pf', { body: { ...applicant, address } }));
      await responds(422, world.call('/accounts/pf', { body: { ...wrong, address: wrong } }));
      await stepsAreCarriedOut(world);
    },
  },
  {
    name: 'a CEP',
    async run({ call }) {
      assert.ok([200, 404, 502].includes((await call(`/onboarding/cep/${secrets.cep}`)).status));
    },
  },
  {
    name: 'the address and the documents, and malformed ones',
    async run(world) {
      await responds(201, give(world, 'address', address));
      await responds(422, give(world, 'address', { ...address, estado: person.name, cep: {} }));
      for (const type of ['1', '5', '6']) await responds(201, upload(world, type, makePdf));
      await responds(
        422,
        upload(world, '6', (content) => `no document at all ${content}`),
      );
      await responds(422, upload(world, person.document, makePdf));
      await stepsAreCarriedOut(world);
    },
  },
  {
    name: 'the proposal, the validation and its code, and malformed ones',
    async run(world) {
      const proposal = { observacoes: secrets.description, valor_solicitado: 100 };
      await responds(202, give(world, 'proposal', proposal));
      await responds(422, give(world, 'proposal', { observacoes: [person.document] }));
      await responds(202, give(world, 'electronic-validation'));
      await responds(422, give(world, 'electronic-validation', { tipo: person.document }));
      await stepsAreCarriedOut(world);
      const confirm = 'electronic-validation/confirm';
      const wrong = await give(world, confirm, { codigo: secrets.validationCode });
      assert.ok([202, 422].includes(wrong.status), JSON.stringify(wrong.body));
      await stepsAreCarriedOut(world);
      await responds(202, give(world, confirm));
      await stepsAreCarriedOut(world);
    },
  },
  {
    name: 'the proof of life, the decision, the account',
    async run(world) {
      await responds(202, give(world, 'prova-vida'));
      await stepsAreCarriedOut(world);
      await responds(202, give(world, 'sync'));
      const path = `/onboarding/${world.applicationId}`;
      const { body } = await responds(200, world.call(`${path}/kyc`));
      assert.equal(body.application.status, 'REJECTED', JSON.stringify(body.application.steps));
      await responds(200, world.call(path));
      await responds(422, give(world, 'address', address));
      await responds(404, world.call(`/onboarding/${randomUUID()}`));
    },
  },
];
