/** Onboarding at the console: every step to the account, what is wrong on the way, and resuming. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import {
  giveAll,
  newPerson,
  register,
  settled,
  type PersonBody,
} from '../../onboarding/applicants.ts';
import { startTestApp } from '../../../support/app.ts';
import { makePdf } from '../../../support/documents.ts';
import { password } from '../../../support/factories.ts';
import { openScreen, type Screen } from '../screen.ts';

const app = await startTestApp();

const folder = mkdtempSync(join(tmpdir(), 'ponte-console-'));
after(() => rmSync(folder, { recursive: true }));

/** Makes a document to upload. */
function givenFile(name: string, sizeBytes = 1_000): string {
  const path = join(folder, name);
  writeFileSync(path, makePdf(Buffer.alloc(sizeBytes)));
  return path;
}

async function openOnboarding(): Promise<Screen> {
  const screen = await openScreen({ url: app.url });
  await screen.type('n');
  await screen.until('Name *');
  return screen;
}

/** The start of the wizard for a new customer. */
async function begin(person: PersonBody = newPerson()): Promise<Screen> {
  const screen = await openOnboarding();
  await screen.fill({
    Name: person.name,
    'E-mail': person.email,
    CPF: person.document,
    Phone: person.phone,
    'Password *': person.password,
    'Password again': person.password,
  });
  await screen.press('ctrl+s');
  await screen.until(/IN_PROGRESS .* 11 %[^]*› Address +pending/);
  return screen;
}

/** Goes on with an application at a console that knows nothing of it. */
async function resume(id: string): Promise<Screen> {
  const screen = await openOnboarding();
  await screen.press('ctrl+r');
  await screen.fill({ 'Application id': id });
  await screen.press('ctrl+s');
  await screen.until(/Id \(secret\) +\S/);
  return screen;
}

function idOn({ text }: Screen): string {
  const [, id] = /Id \(secret\) +([0-9a-f-]{36})/.exec(text) ?? [];
  assert.ok(id !== undefined, text);
  return id;
}

/** Opens a step from the list of all of them. */
async function open(screen: Screen, label: string): Promise<void> {
  await screen.focus(label);
  await screen.press('enter');
  await screen.until(`onboarding › ${label}`);
}

async function giveAddress(screen: Screen): Promise<void> {
  await open(screen, 'Address');
  await screen.fill({ CEP: '01310-100' });
  await screen.until(/Street \* +Avenida Paulista[^]*City \* +São Paulo\n +State \* +SP/);
  await screen.fill({ Number: '1000' });
  await screen.press('ctrl+s');
  await screen.until(/› Documents +pending[^]*Address: accepted\./);
}

async function giveDocuments(screen: Screen): Promise<void> {
  await open(screen, 'Documents');
  for (const [kind, next] of [
    ['1 RG', '5 proof of residence'],
    ['5 proof of residence', '6 selfie'],
  ] as const) {
    await screen.until(new RegExp(`Kind \\* +(?:‹ )?${kind}`));
    await screen.fill({ 'Path of the file': givenFile(`${kind}.pdf`) });
    await screen.press('ctrl+s');
    await screen.until(`Kind * ${next}`);
    await screen.until(`Stored: ${kind}.`);
  }
  await screen.fill({ 'Path of the file': givenFile('selfie.pdf') });
  await screen.press('ctrl+s');
  await screen.until(/Documents +done\n[^]*Documents: accepted\./);
}

describe('an application', () => {
  it('is led through all steps to an account, at two consoles one after the other', async () => {
    const person = newPerson();
    const first = await begin(person);
    await giveAddress(first);
    await giveDocuments(first);
    const screen = await resume(idOn(first));
    first.close();
    assert.match(screen.text, /33 %[^]*Documents +done\n › Proposal +pending/);
    for (const label of ['Proposal', 'Electronic validation', 'Confirm the code']) {
      await open(screen, label);
      await screen.press('ctrl+s');
      await screen.until(new RegExp(`${label} +(?:queued|done)`));
    }
    await open(screen, 'Proof of life');
    await screen.press('enter');
    await screen.until('Open this page in a browser: http');
    await screen.until('UNDER_ANALYSIS');
    await open(screen, 'Decision (KYC)');
    await screen.press('enter');
    await screen.until(/APPROVED .* 100 %[^]*KYC +APPROVED\n Account +0001 \/ \d+/);
    await screen.until('Approved: log in');
    await screen.press('escape');
    await screen.until('Ponte › home');
    await screen.type('l');
    await screen.until('[ Log in ]');
    await screen.fill({ 'E-mail': person.email, Password: password });
    await screen.press('ctrl+s');
    await screen.until(new RegExp(`Name +${person.name}[^]*Account +.+ · ACTIVE`));
  });

  it('that is rejected says so', async () => {
    const applicant = await register(app, newPerson({ phone: '+5511987654322' }));
    await giveAll(app, applicant.id);
    await settled(app, applicant);
    const screen = await resume(applicant.id);
    await open(screen, 'Decision (KYC)');
    await screen.press('enter');
    await screen.until(/REJECTED [^]*Account +not opened yet[^]*no account is opened\./);
  });

  it('does not start with invalid fields, which have their errors beside them', async () => {
    const screen = await openOnboarding();
    await screen.fill({
      Name: 'Ana',
      'E-mail': 'ana@',
      CPF: '52998224724',
      Phone: '119',
      'Password *': 'short',
      'Password again': 'other',
    });
    await screen.press('ctrl+s');
    await screen.until(
      /› E-mail \* +ana@\n +The value must be an e-mail[^]*at least 8\s+char[^]*do not match/,
    );
    await screen.until(/CPF \* +52998224724\n +The CPF is not valid\.[^]*The phone must have/);
  });

  it('is found by its id only, and is forgotten only after a yes', async () => {
    const screen = await openOnboarding();
    await screen.press('ctrl+r');
    await screen.fill({ 'Application id': '00000000-0000-4000-8000-000000000000' });
    await screen.press('ctrl+s');
    await screen.until('There is no such application.');
    const { id } = await register(app);
    await screen.fill({ 'Application id': id });
    await screen.press('ctrl+s');
    await screen.until(`Id (secret) ${id}`);
    await screen.type('f');
    await screen.until('Forget it? Only its id leads back to it. y: yes');
    await screen.type('n');
    await screen.until((text) => !text.includes('Forget it?') && text.includes(id));
    await screen.press('escape');
    await screen.until('Ponte › home');
    await screen.type('n');
    await screen.until(`Id (secret) ${id}`);
    await screen.type('f');
    await screen.until('Forget it?');
    await screen.type('y');
    await screen.until('Name *');
    assert.ok(!screen.text.includes(id));
  });
});

describe('a step', () => {
  it('keeps what was typed by hand when the CEP fills in, until it is cleared', async () => {
    const screen = await begin();
    await open(screen, 'Address');
    await screen.fill({ Street: 'Rua Augusta', CEP: '01310100' });
    await screen.until(/Street \* +Rua Augusta[^]*City \* +São Paulo/);
    await screen.fill({ Street: '', CEP: '01310-10' });
    await screen.fill({ CEP: '01310-100' });
    await screen.until(/Street \* +Avenida Paulista/);
    await screen.fill({ CEP: '00000000' });
    await screen.until(/› CEP \* +00000000\n +\S/);
    await screen.press('escape');
    await screen.until(/› Address/);
    await open(screen, 'Address');
    await screen.until(/CEP \* +00000000[^]*Street \* +Avenida Paulista/);
  });

  it('lets nothing stand that another CEP has filled in', async () => {
    const screen = await begin();
    await open(screen, 'Address');
    await screen.fill({ CEP: '99999999' });
    await screen.until(/State \* +RS/);
    await screen.fill({ CEP: '01310100' });
    await screen.until(/Street \* +Avenida Paulista[^]*City \* +São Paulo\n +State \* +SP/);
    await screen.fill({ District: 'Centro' });
    await screen.press('escape');
    await screen.until(/› Address/);
    await open(screen, 'Address');
    await screen.fill({ CEP: '99999999' });
    await screen.until(/Street \* +–\n[^]*District +Centro\n +City \* +–\n +State \* +RS/);
  });

  it('refuses what is no document, and a long upload can be given up', async () => {
    const screen = await begin();
    await open(screen, 'Documents');
    await screen.fill({ 'Path of the file': '/nowhere.pdf' });
    await screen.press('ctrl+s');
    await screen.until('There is no file that can be read at /nowhere.pdf.');
    const text = join(folder, 'notes.txt');
    writeFileSync(text, 'no document');
    await screen.fill({ 'Path of the file': text });
    await screen.press('ctrl+s');
    await screen.until(/Path of the file \*.*\n +(?!a PDF, JPEG or PNG\n)\S/);
    await screen.fill({ 'Path of the file': givenFile('large.pdf', 10_000_000) });
    await screen.press('ctrl+s');
    await screen.until('Uploading … esc gives up');
    await screen.press('escape');
    await screen.until('You gave up waiting.');
    await screen.fill({ 'Path of the file': givenFile('small.pdf') });
    await screen.press('ctrl+s');
    await screen.until('Stored: 1 RG. More documents are needed.');
  });

  it('with a wrong code says so, and takes the right one', async () => {
    const screen = await begin();
    await open(screen, 'Electronic validation');
    await screen.press('ctrl+s');
    await screen.until(/Electronic validation +(?:queued|done)/);
    await open(screen, 'Confirm the code');
    await screen.fill({ Code: 'WRONG1' });
    await screen.press('ctrl+s');
    await screen.until(/› Code +WRONG1\n +The code is wrong\./);
    await screen.fill({ Code: 'ABC123' });
    await screen.press('ctrl+s');
    await screen.until(/Confirm the code +(?:queued|done)/);
  });
});
