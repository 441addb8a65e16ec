import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { wrongValidationCode } from '../../src/provider/errors.ts';
import type { Provider } from '../../src/provider/provider.ts';
import { withResilience } from '../../src/provider/resilience/resilient-provider.ts';
import {
  address,
  applicant,
  applied,
  makeDocument,
  proposal,
  parseSteps,
} from '../unit/provider/applicant.ts';
import { failure, logIn, rejected } from '../unit/provider/sandbox/bank/open-bank.ts';
import { type Open, opened, timedOut } from './target.ts';

const noAccount = { clientToken: null, agency: null, accountNumber: null };

const pending = { status: 'PENDING', ...noAccount };

const missing = (reason: string) => ({ ...rejected(reason), statusClass: '404' });

const notReadable = {
  outcome: 'not_sent',
  code: 'PROVIDER_UNAVAILABLE',
  statusClass: 'unreadable',
  retryable: true,
} as const;

const other = { ...applicant, email: 'maria@example.com', document: '12345678909' };

/** The opening of an account. */
export function onboardingConforms(open: Open): void {
  async function registered(provider: Provider) {
    const { pessoaFisicaId } = await provider.registerPerson(applicant);
    return pessoaFisicaId;
  }

  describe('registration', () => {
    it('makes a person, once for a CPF', async () => {
      const { provider } = await opened(open);
      const { pessoaFisicaId, ...account } = await provider.registerPerson(applicant);
      assert.match(pessoaFisicaId, /^[0-9a-f-]{36}$/);
      assert.deepEqual(account, noAccount);
      const again = await provider.registerPerson({ ...applicant, name: 'Other' });
      assert.equal(again.pessoaFisicaId, pessoaFisicaId);
      assert.notEqual((await provider.registerPerson(other)).pessoaFisicaId, pessoaFisicaId);
    });

    it('returns the account of a person who already has one', async () => {
      const { provider } = await opened(open);
      const id = await applied(provider);
      const { status: _, ...account } = await provider.kyc({ personId: id });
      const again = await provider.registerPerson(applicant);
      assert.deepEqual(again, { pessoaFisicaId: id, ...account });
    });

    it('is refused with no CPF, and with the e-mail of another person', async () => {
      const { provider } = await opened(open);
      await provider.registerPerson(applicant);
      const noCpf = provider.registerPerson({ ...other, document: '12345678900' });
      assert.deepEqual(await failure(noCpf), rejected('InvalidDocument'));
      const taken = provider.registerPerson({ ...other, email: 'JOAO@example.com' });
      assert.deepEqual(await failure(taken), rejected('EmailAlreadyRegistered'));
    });
  });

  describe('decision', () => {
    it('waits for each of the steps, and comes with the account that the login shows', async () => {
      const { provider } = await opened(open);
      const id = await registered(provider);
      for (const step of Object.values(parseSteps(provider, id))) {
        assert.deepEqual(await provider.kyc({ personId: id }), pending);
        await step();
      }
      const { status, ...decided } = await provider.kyc({ personId: id });
      assert.equal(status, 'APPROVED');
      const { email } = applicant;
      const { account } = await provider.login({ email, password: 'any' });
      const { companyId, document, ...shown } = account;
      assert.deepEqual(shown, decided);
      assert.match(decided.clientToken ?? '', /^[0-9a-f-]{36}$/);
      assert.equal(document, applicant.document);
      assert.match(companyId ?? '', /^\d+$/);
    });

    it('stays the same when every step is repeated', async () => {
      const { provider } = await opened(open);
      const id = await applied(provider);
      const decided = await provider.kyc({ personId: id });
      assert.equal(await applied(provider), id);
      assert.deepEqual(await provider.kyc({ personId: id }), decided);
    });

    it('does not come for a confirmation alone: the person has to be sent a code', async () => {
      const { provider } = await opened(open);
      const id = await registered(provider);
      const call = provider.confirmValidation({ personId: id, codigo: 'ABC123', tipo: 1 });
      assert.deepEqual(await failure(call), rejected('ValidationNotRequested'));
    });
  });

  describe('confirmation', () => {
    it('distinguishes a wrong code from other refusals, and accepts the right one after it', async () => {
      const { provider } = await opened(open);
      const id = await registered(provider);
      await provider.requestValidation({ personId: id, tipo: 1 });
      const wrong = provider.confirmValidation({ personId: id, codigo: 'ABC124', tipo: 1 });
      assert.deepEqual(await failure(wrong), rejected(wrongValidationCode));
      await provider.confirmValidation({ personId: id, codigo: 'ABC123', tipo: 1 });
    });
  });

  describe('document', () => {
    it('is read to its end, whatever its content, and again at each attempt', async () => {
      const { provider } = await opened(open);
      const id = await registered(provider);
      const chunks = [Buffer.alloc(300_000, '\r\n--ponte'), Buffer.alloc(1), Buffer.alloc(0)];
      const document = makeDocument({ chunks, contentType: 'image/png' });
      await provider.submitDocument({ personId: id, document });
      await provider.submitDocument({ personId: id, document });
      assert.deepEqual(document.opened, { times: 2, closed: 2 });
    });

    const unreadable = {
      'cannot be read to its end': { fault: new Error('the store is away') },
      'is shorter than it says': { sizeBytes: 14 },
      'is longer than it says': { sizeBytes: 12 },
    };
    for (const [title, wish] of Object.entries(unreadable)) {
      it(`that ${title} has not been sent`, async () => {
        const { provider, clock } = await opened(open);
        const id = await registered(provider);
        const options = { clock, timeoutMs: 60_000, retries: 2 };
        const { provider: resilient } = withResilience(provider, options);
        const document = makeDocument(wish);
        assert.deepEqual(
          await failure(resilient.submitDocument({ personId: id, document })),
          notReadable,
        );
        assert.deepEqual(document.opened, { times: 1, closed: 1 });
        await resilient.submitDocument({ personId: id, document: makeDocument() });
      });
    }

    it('is not opened when the signal has aborted already', async () => {
      const { provider } = await opened(open);
      const document = makeDocument();
      const signal = AbortSignal.abort(new Error('gone'));
      const call = provider.submitDocument({ personId: 'id', document, signal });
      assert.deepEqual(await failure(call), { ...timedOut, outcome: 'not_sent' });
      assert.equal(document.opened.times, 0);
    });
  });

  describe('liveness', () => {
    it('gives one session, on a web page', async () => {
      const { provider } = await opened(open);
      const id = await registered(provider);
      const session = await provider.startLivenessCheck({ personId: id });
      assert.equal(session.urlIframe, `https://prova-vida.ponte.test/${session.sessionId}`);
      assert.deepEqual(await provider.startLivenessCheck({ personId: id }), session);
    });
  });

  describe('person', () => {
    it('who is unknown is missing, for every request', async () => {
      const { provider } = await opened(open);
      for (const id of ['nobody', '1/kyc?x=#', 'João', '%2e']) {
        const steps = Object.values(parseSteps(provider, id));
        const calls = [...steps, () => provider.kyc({ personId: id })].map((step) =>
          failure(step()),
        );
        for (const failed of await Promise.all(calls)) {
          assert.deepEqual(failed, missing('PersonNotFound'));
        }
      }
    });
  });

  describe('postal code', () => {
    it('is looked up', async () => {
      const { provider } = await opened(open);
      const { numero: _, complemento: __, ...known } = address;
      assert.deepEqual(await provider.lookUpCep({ cep: '01310100' }), known);
      assert.deepEqual(await provider.lookUpCep({ cep: '53990000' }), {
        cep: '53990000',
        logradouro: null,
        bairro: null,
        cidade: 'Fernando de Noronha',
        estado: 'PE',
      });
    });

    it('that is unknown is missing', async () => {
      const { provider } = await opened(open);
      assert.deepEqual(
        await failure(provider.lookUpCep({ cep: '99999999' })),
        missing('CepNotFound'),
      );
    });
  });

  it('a proposal may say more, and an address less', async () => {
    const { provider } = await opened(open);
    const id = await registered(provider);
    const more = { ...proposal, observacoes: 'à vista', valorSolicitado: 1_500.5 };
    await provider.submitProposal({ personId: id, proposal: more });
    await provider.submitAddress({ personId: id, address: { ...address, complemento: 'apto. 7' } });
  });

  it('is not disturbed by a customer who has logged in before', async () => {
    const { provider } = await opened(open);
    await logIn(provider, applicant.email);
    await provider.registerPerson(applicant);
    const { account } = await provider.login({ email: applicant.email, password: 'any' });
    assert.equal(account.document, applicant.document);
  });
}
