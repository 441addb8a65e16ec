/** Documents on their way to the provider, and what is stored of them until then. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Context } from '../../../src/context/context.ts';
import { ProviderError } from '../../../src/provider/errors.ts';
import type { PersonDocument } from '../../../src/provider/provider.ts';
import { DamagedDocument } from '../../../src/onboarding/document-content.ts';
import { forwardDocuments } from '../../../src/onboarding/document-submission.ts';
import { storeDocument, type ReceiveDocument } from '../../../src/onboarding/submit-document.ts';
import { runStep } from '../../../src/onboarding/run-step.ts';
import { findApplication } from '../../../src/onboarding/applicant.ts';
import { register, step, type Shown } from './applicants.ts';
import { startTestApp } from '../../support/app.ts';
import { pdfOfSize } from '../../support/documents.ts';
import { fieldPart, filePart, formType, makeForm } from '../../support/forms.ts';
import { intercepted } from '../../support/intercepted.ts';

const app = await startTestApp({ environment: { ONBOARDING_LOCAL_ONLY: 'false', JOBS: 'off' } });

interface Received extends Omit<PersonDocument, 'content'> {
  readonly personId: string;
  readonly content: Buffer;
  readonly pieces: number;
}

interface Receiver {
  readonly received: Received[];
  /** Whose documents were sent to it, received or not. */
  readonly requests: string[];
  readonly context: Context;
}

/** A provider that reads its request, and then behaves as the test says. */
function receiver(respond: (count: number) => Promise<void> = () => Promise.resolve()): Receiver {
  const received: Received[] = [];
  const requests: string[] = [];
  const provider: Context['provider'] = {
    ...app.context.provider,
    async submitDocument({ personId, document }) {
      requests.push(personId);
      try {
        const pieces = await Array.fromAsync(document.content());
        const content = Buffer.concat(pieces);
        received.push({ ...document, personId, content, pieces: pieces.length });
      } catch (cause) {
        const refusal = { outcome: 'not_sent', code: 'PROVIDER_UNAVAILABLE' } as const;
        throw new ProviderError({ ...refusal, statusClass: 'unreadable', cause });
      }
      await respond(received.length);
    },
  };
  return { received, requests, context: { ...app.context, provider } };
}

/** Registers a person whom the provider knows, and uploads documents. */
async function givenDocuments(...documents: readonly Buffer[]) {
  const { id } = await register(app);
  for (const [index, content] of documents.entries()) await upload(id, index + 1, content);
  return { id, pessoaFisicaId: `pf-${id}` };
}

async function upload(id: string, type: number, content: Buffer): Promise<Shown> {
  const body = makeForm(fieldPart(String(type)), filePart(content));
  const headers = { 'content-type': formType };
  const response = await app.call(`/onboarding/${id}/documents`, { body, headers });
  assert.equal(response.status, 201, JSON.stringify(response.body));
  await app.clock.advance(1_000);
  return response.body;
}

async function standing(id: string): Promise<string[]> {
  const rows = await app.rows<{ standing: string }>(
    `select concat(d.status, ' ', count(c.place)) as standing
       from onboarding_documents d left join onboarding_document_chunks c on c.document_id = d.id
      where application_id = $1 group by d.id order by d.created_at`,
    [id],
  );
  return rows.map((row) => row.standing);
}

function unavailable(): ProviderError {
  return new ProviderError({
    outcome: 'not_sent',
    code: 'PROVIDER_UNAVAILABLE',
    statusClass: 'connect',
  });
}

test('every document comes whole, in pieces, and its content goes once it was taken', async () => {
  const documents = [pdfOfSize(300_000), pdfOfSize(131_072), pdfOfSize(120)];
  const application = await givenDocuments(...documents);
  assert.deepEqual(await standing(application.id), ['stored 3', 'stored 1', 'stored 1']);
  const { received, context } = receiver();
  await forwardDocuments(context, application);
  assert.deepEqual(
    received,
    documents.map((content, index) => ({
      personId: application.pessoaFisicaId,
      tipoDocumento: index + 1,
      contentType: 'application/pdf',
      sizeBytes: content.length,
      content,
      pieces: [3, 1, 1][index],
    })),
  );
  assert.deepEqual(await standing(application.id), ['forwarded 0', 'forwarded 0', 'forwarded 0']);
  await forwardDocuments(context, application);
  assert.equal(received.length, 3);
});

test('a failure stops the forwarding, and the next one goes on from there', async () => {
  const application = await givenDocuments(pdfOfSize(150), pdfOfSize(160), pdfOfSize(170));
  const failing = receiver((count) =>
    count === 2 ? Promise.reject(unavailable()) : Promise.resolve(),
  );
  await assert.rejects(forwardDocuments(failing.context, application), { statusClass: 'connect' });
  assert.deepEqual(await standing(application.id), ['forwarded 0', 'stored 1', 'stored 1']);
  const { received, context } = receiver();
  await forwardDocuments(context, application);
  assert.deepEqual(
    received.map(({ sizeBytes }) => sizeBytes),
    [160, 170],
  );
});

test('a document that is the provider’s already is not taken again', async () => {
  const content = pdfOfSize(150);
  const application = await givenDocuments(content);
  const { requests, context } = receiver();
  await forwardDocuments(context, application);
  await upload(application.id, 1, content);
  await forwardDocuments(context, application);
  assert.equal(requests.length, 1);
  assert.deepEqual(await standing(application.id), ['forwarded 0']);
});

const missing = 'a chunk of a document is missing';
const closed = 'a chunk of a document does not open';
const another = 'the chunks of a document differ from what was stored';

const damages: [what: string, reason: string, sql: string][] = [
  [
    'a chunk is missing',
    missing,
    `delete from onboarding_document_chunks where document_id = $1 and place = 1`,
  ],
  [
    'the end is missing',
    another,
    `with cut as (delete from onboarding_document_chunks where document_id = $1 and place = 2)
     update onboarding_documents set chunk_count = 2 where id = $1`,
  ],
  [
    'chunks have changed places',
    closed,
    `update onboarding_document_chunks c set sealed_content = other.sealed_content
       from onboarding_document_chunks other
      where c.document_id = $1 and other.document_id = $1 and c.place + other.place = 1`,
  ],
  [
    'a chunk is of another document',
    closed,
    `update onboarding_document_chunks c set sealed_content = other.sealed_content
       from onboarding_document_chunks other join onboarding_documents d on d.id = other.document_id
      where c.document_id = $1 and c.place = 0 and other.place = 0 and d.id <> $1
        and d.application_id = (select application_id from onboarding_documents where id = $1)`,
  ],
  [
    'a bit has changed',
    closed,
    `update onboarding_document_chunks
        set sealed_content = set_bit(sealed_content, 800, 1 - get_bit(sealed_content, 800))
      where document_id = $1 and place = 0`,
  ],
  [
    'it is another content',
    another,
    `update onboarding_documents set content_hash = '\\x00' where id = $1`,
  ],
  [
    'it is of another length',
    another,
    `update onboarding_documents set size_bytes = 1 where id = $1`,
  ],
];

test('a damaged document is never forwarded as whole, is logged, and keeps none back', async () => {
  for (const [what, reason, damage] of damages) {
    const application = await givenDocuments(pdfOfSize(150), pdfOfSize(150));
    await upload(application.id, 3, pdfOfSize(300_000));
    const [document] = await app.rows<{ id: string }>(
      `update onboarding_documents set stored_at = '2000-01-01'
        where application_id = $1 and tipo_documento = 3 returning id`,
      [application.id],
    );
    await app.rows(damage, [document?.id]);
    const { received, context } = receiver();
    await assert.rejects(forwardDocuments(context, application), (error) => {
      assert.ok(error instanceof ProviderError && error.cause instanceof DamagedDocument, what);
      assert.equal(error.cause.message, reason, what);
      return true;
    });
    assert.deepEqual(
      received.map(({ tipoDocumento }) => tipoDocumento),
      [1, 2],
      what,
    );
    const line = app.logLines.at(-1) ?? '';
    assert.match(line, /"level":"error".*a stored document is damaged/, what);
    assert.ok(line.includes('DamagedDocument') && !line.includes(application.id), what);
  }
});

/** A provider that refuses one document, by its size, in one way. */
function refusing(sizeBytes: number, refusal: ProviderError): Receiver {
  const taker = receiver();
  const { submitDocument } = taker.context.provider;
  const provider: Context['provider'] = {
    ...taker.context.provider,
    async submitDocument({ personId, document }) {
      if (document.sizeBytes === sizeBytes) throw refusal;
      await submitDocument({ personId, document });
    },
  };
  return { ...taker, context: { ...taker.context, provider } };
}

function refused(statusClass: '4xx' | '404' | '429'): ProviderError {
  return new ProviderError({ outcome: 'rejected', code: 'PROVIDER_REJECTED', statusClass });
}

test('a document that the provider refuses for good goes, and keeps no other back', async () => {
  const application = await givenDocuments(pdfOfSize(150), pdfOfSize(160), pdfOfSize(170));
  const { context, received } = refusing(150, refused('4xx'));
  await assert.rejects(forwardDocuments(context, application), { statusClass: '4xx' });
  assert.deepEqual(
    received.map(({ sizeBytes }) => sizeBytes),
    [160, 170],
  );
  assert.deepEqual(await standing(application.id), ['forwarded 0', 'forwarded 0']);
  await forwardDocuments(context, application);
});

test('a failure behind a refusal stops the stream, and the refusal is reported', async () => {
  const application = await givenDocuments(pdfOfSize(150), pdfOfSize(160), pdfOfSize(170));
  const first = refusing(150, refused('4xx'));
  const second = refusing(160, unavailable());
  const { submitDocument } = first.context.provider;
  const provider: Context['provider'] = {
    ...first.context.provider,
    submitDocument: (request) =>
      request.document.sizeBytes === 160
        ? second.context.provider.submitDocument(request)
        : submitDocument(request),
  };
  await assert.rejects(forwardDocuments({ ...first.context, provider }, application), {
    statusClass: '4xx',
  });
  assert.deepEqual(await standing(application.id), ['stored 1', 'stored 1']);
});

for (const statusClass of ['404', '429'] as const) {
  test(`a ${statusClass} says nothing of the document: it stays`, async () => {
    const application = await givenDocuments(pdfOfSize(150), pdfOfSize(160));
    const { context, received } = refusing(150, refused(statusClass));
    await assert.rejects(forwardDocuments(context, application), { statusClass });
    assert.deepEqual(received, []);
    assert.deepEqual(await standing(application.id), ['stored 1', 'stored 1']);
  });
}

test('a damaged document is replaced by the next one of its type', async () => {
  const content = pdfOfSize(150);
  const application = await givenDocuments(content, pdfOfSize(160));
  await app.rows(
    `update onboarding_documents set content_hash = '\\x00'
      where application_id = $1 and tipo_documento = 1`,
    [application.id],
  );
  const [row] = await app.rows<{ user_id: number }>(
    `update onboarding_applications
        set pessoa_fisica_id = 'pf-1', steps = jsonb_set(steps, '{0,status}', '"done"')
      where id = $1 returning user_id`,
    [application.id],
  );
  const { received, context } = receiver();
  const work = { userId: row?.user_id ?? 0, name: 'documents' } as const;
  assert.equal((await runStep(context, work))?.statusClass, 'unreadable');
  const failed = await findApplication(app.context, {
    applicationId: application.id,
    clientAddress: '127.0.0.1',
  });
  assert.equal(failed.steps[2]?.error, 'CONTENT_MISSING');
  assert.deepEqual(await standing(application.id), ['stored 1', 'forwarded 0']);
  await upload(application.id, 1, content);
  await forwardDocuments(context, application);
  assert.deepEqual(await standing(application.id), ['forwarded 0', 'forwarded 0']);
  assert.deepEqual(
    received.map(({ sizeBytes }) => sizeBytes),
    [160, 150],
  );
});

test('a repeat has the forwarding tried again that has failed', async () => {
  const content = pdfOfSize(150);
  const application = await givenDocuments(content);
  await app.rows(
    `update onboarding_applications
        set steps = (select jsonb_agg(case when step->>'name' = 'documents'
                                           then step || '{"status": "failed"}' else step end)
                       from jsonb_array_elements(steps) step)
      where id = $1`,
    [application.id],
  );
  assert.equal(step(await upload(application.id, 1, content), 'documents').status, 'queued');
});

test('a document that was moved to another application does not open there', async () => {
  const application = await givenDocuments(pdfOfSize(150));
  const other = await givenDocuments();
  await app.rows('update onboarding_documents set application_id = $2 where application_id = $1', [
    application.id,
    other.id,
  ]);
  const { received, context } = receiver();
  await assert.rejects(forwardDocuments(context, other), { statusClass: 'unreadable' });
  assert.deepEqual(received, []);
});

test('an upload that cannot be stored leaves nothing, and says why', async () => {
  const { id } = await register(app);
  const application = await findApplication(app.context, {
    applicationId: id,
    clientAddress: '127.0.0.1',
  });
  async function* content(): AsyncGenerator<Buffer> {
    yield pdfOfSize(300_000);
  }
  const receive: ReceiveDocument = async (consume) => {
    return { tipoDocumento: 1, file: await consume(content()) };
  };
  const sender = { application, clientAddress: '198.51.100.7' };
  const fault = new Error('Connection terminated');
  const failingAt = (...names: readonly string[]): Context => {
    const db = intercepted(
      app.context.db,
      (run) => (statement, parameters) =>
        names.includes(statement.name) && parameters['place'] !== 0
          ? Promise.reject(fault)
          : run(statement, parameters),
    );
    return { ...app.context, db };
  };
  await assert.rejects(storeDocument(failingAt('document-chunk-store'), sender, receive), fault);
  assert.deepEqual(await standing(id), []);
  // What cannot be removed at once is left for the job.
  await assert.rejects(
    storeDocument(failingAt('document-chunk-store', 'document-drop'), sender, receive),
    fault,
  );
  assert.match(app.logLines.at(-1) ?? '', /"level":"warn".*could not be removed/);
  assert.deepEqual(await standing(id), ['receiving 1']);
});

test('a store that fails is no failure of the provider', async () => {
  const application = await givenDocuments(pdfOfSize(150));
  const { context } = receiver();
  const fault = new Error('Connection terminated');
  const db: Context['db'] = {
    ...context.db,
    query: (statement, parameters) =>
      statement.name === 'document-chunk-read'
        ? Promise.reject(fault)
        : context.db.query(statement, parameters),
  };
  await assert.rejects(forwardDocuments({ ...context, db }, application), fault);
  assert.deepEqual(await standing(application.id), ['stored 1']);
});

test('of two that forward at once none fails when the other was faster', async () => {
  const application = await givenDocuments(pdfOfSize(150), pdfOfSize(160));
  const faster = receiver();
  const slower = receiver(async () => {
    await forwardDocuments(faster.context, application);
    throw unavailable();
  });
  await forwardDocuments(slower.context, application);
  assert.deepEqual(await standing(application.id), ['forwarded 0', 'forwarded 0']);
  assert.equal(faster.received.length, 2);
});
