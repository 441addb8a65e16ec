/*
 * The onboarding, one step at a time. The application's id is a secret and is stored in this tab
 * only.
 */
import { call, keepToken } from './api.js';
import { parseAmount } from './format.js';
import {
  byId,
  element,
  facts,
  onSubmit,
  showErrors,
  statusBadge,
  withAmountError,
} from './page.js';
import { samplePerson } from './sample.js';
import { offerScenarios } from './scenarios.js';
import { centre } from './shell.js';

const idKey = 'ponte-dev-application';

/** The e-mail of the registration. */
const registeredKey = 'ponte-dev-registered';

const minPollMs = 500;

const maxPollMs = 10_000;

function applicationId() {
  return sessionStorage.getItem(idKey);
}

/** The path of a step of the open application, such as `/address`. */
export function stepPath(step) {
  return `/onboarding/${encodeURIComponent(applicationId())}${step}`;
}

onSubmit(byId('registration'), async (values) => {
  const response = await call({ method: 'POST', path: '/onboarding/pf', body: values });
  if (response.status === 201) {
    // The application shows it masked.
    sessionStorage.setItem(registeredKey, values.email ?? '');
    keep(response.body);
  }
  return response;
});

byId('sample-person').addEventListener('click', () => {
  for (const [name, value] of Object.entries(samplePerson())) byId(name).value = value;
  showErrors(byId('registration'), null);
});

onSubmit(byId('resume'), async ({ application_id: id = '' }) => {
  const response = await call({ path: `/onboarding/${encodeURIComponent(id.trim())}` });
  if (response.status === 200) keep(response.body);
  return response;
});

byId('forget').addEventListener('click', () => {
  sessionStorage.removeItem(idKey);
  location.reload();
});

byId('refresh').addEventListener('click', refresh);

function keep(application) {
  sessionStorage.setItem(idKey, application.id);
  show(application);
}

onSubmit(byId('address'), async (values) => {
  const response = await call({ method: 'POST', path: stepPath('/address'), body: values });
  if (response.status === 201) goOn(response.body, 'address');
  return response;
});

byId('sample-address').addEventListener('click', async () => {
  byId('cep').value = '01310-100';
  byId('numero').value = '1000';
  showErrors(byId('address'), null);
  await lookUpCep();
});

/**
 * The values that a CEP has filled in, by field; a field that still has its value was not edited.
 */
const filledIn = new Map();

byId('cep').addEventListener('change', lookUpCep);

async function lookUpCep() {
  const digits = byId('cep').value.replaceAll(/\D/g, '');
  if (digits.length !== 8) return;
  const response = await call({ path: `/onboarding/cep/${digits}` });
  if (response.status !== 200) {
    byId('cep-hint').textContent = response.body.message;
    return;
  }
  const { cep } = response.body;
  byId('cep-hint').textContent = cep.logradouro
    ? 'The address of the CEP was filled in.'
    : 'The street of this CEP is not known: type the address. A town with one CEP may have no districts: leave District empty there, and type S/N for a house without a number.';
  for (const name of ['logradouro', 'bairro', 'cidade', 'estado']) {
    const field = byId(name);
    if (field.value !== '' && field.value !== filledIn.get(name)) continue;
    field.value = cep[name] ?? '';
    filledIn.set(name, field.value);
  }
}

for (const [form, step] of [
  ['proposal', '/proposal'],
  ['validation', '/electronic-validation'],
  ['confirmation', '/electronic-validation/confirm'],
]) {
  onSubmit(byId(form), async ({ valor_solicitado: amount, tipo, codigo, ...rest }) => {
    const body = {
      ...rest,
      ...(tipo !== undefined && { tipo: form === 'proposal' ? tipo : Number(tipo) }),
      ...(amount !== undefined && { valor_solicitado: parseAmount(amount) ?? amount }),
      // The bank sends capital letters.
      ...(codigo !== undefined && { codigo: codigo.trim().toUpperCase() }),
    };
    const response = await call({ method: 'POST', path: stepPath(step), body });
    const { step: name } = byId(form).closest('[data-step]').dataset;
    shown(response, (application) => goOn(application, name));
    return withAmountError(response, 'valor_solicitado', amount);
  });
}

onSubmit(byId('liveness'), async () => {
  const response = shown(await call({ method: 'POST', path: stepPath('/prova-vida') }));
  // The pressed button is now hidden.
  byId('liveness-link').querySelector('a')?.focus();
  return response;
});

onSubmit(byId('sync'), async () => shown(await call({ method: 'POST', path: stepPath('/sync') })));

onSubmit(byId('kyc'), async () => {
  const response = shown(await call({ path: stepPath('/kyc') }));
  const { application } = response.body;
  if (application !== undefined) byId('kyc-said').textContent = decisionText(application);
  byId('decided').querySelector('a')?.focus();
  return response;
});

function decisionText({ status, steps }) {
  if (status === 'APPROVED' || status === 'REJECTED') return '';
  const open = steps.filter(isMissing);
  return open.length > 0
    ? `Too early. Still missing: ${inWords(open)}.`
    : 'The bank has not decided yet. Get the decision again later.';
}

function shown(response, then = show) {
  if (response.body?.application) then(response.body.application);
  return response;
}

/** @returns whether the application was shown. */
async function refresh() {
  const { queued } = poll;
  const response = await call({ path: stepPath('') });
  if (response.status === 200) showNews(response.body, queued);
  else if (response.status === 404) byId('forget').click();
  return response.status === 200;
}

/** The bank may have the last document only now: then the next step follows. */
function showNews(application, queued) {
  if (queued.includes('documents') && areDocumentsDone(application)) goOn(application, 'documents');
  else show(application);
}

/** Whether the bank has every document that it needs. */
export function areDocumentsDone({ steps }) {
  return steps.some(({ name, status }) => name === 'documents' && status === 'done');
}

const poll = { timer: null, queued: '', afterMs: minPollMs };

/**
 * Polls while steps before the decision are queued, with growing intervals. The decision may take
 * days and has a button.
 */
function schedulePoll(application) {
  clearTimeout(poll.timer);
  const isInProgress = ({ name, status }) =>
    status === 'queued' && name !== 'kyc' && name !== 'account';
  const names = application.steps.filter(isInProgress).map(({ name }) => name);
  const queued = names.join(' ');
  if (queued !== poll.queued) poll.afterMs = minPollMs;
  poll.queued = queued;
  if (queued !== '') poll.timer = setTimeout(() => void pollAgain(application), poll.afterMs);
}

async function pollAgain(application) {
  poll.afterMs = Math.min(poll.afterMs * 2, maxPollMs);
  const isShown = !document.hidden && (await refresh());
  if (!isShown) schedulePoll(application);
}

const labels = {
  registration: 'Registration',
  address: 'Address',
  documents: 'Documents',
  proposal: 'Proposal',
  electronic_validation: 'Electronic validation',
  electronic_validation_confirm: 'Code',
  prova_vida: 'Proof of life',
  kyc: 'Decision',
  account: 'Account',
};

/** The names of steps within a sentence. */
function inWords(steps) {
  return steps.map(({ name }) => labels[name].toLowerCase()).join(', ');
}

/** The step whose form is shown. */
let current = null;

const panels = [...document.querySelectorAll('[data-step]')];

/** Whether a person has to do a step; the bank does the last two. */
function isMissing({ name, status }) {
  return name !== 'kyc' && name !== 'account' && (status === 'pending' || status === 'failed');
}

/** Shows an application after a step, and the next one, unless a person has opened another. */
export function goOn(application, step) {
  if (current !== step) {
    show(application);
    return;
  }
  current = null;
  show(application);
  document.querySelector('[data-step]:not([hidden]) h2')?.focus();
}

/** Shows an application; the open step stays open. */
export function show(application) {
  const { status, name, steps } = application;
  const isFirst = byId('wizard').hidden;
  byId('start').hidden = true;
  byId('wizard').hidden = false;
  const missing = steps.filter(isMissing);
  current ??= (missing.find((step) => hasPanel(step)) ?? { name: 'kyc' }).name;
  byId('progress').replaceChildren(
    element('div', { className: 'head' }, element('strong', {}, name), statusBadge(status)),
  );
  byId('application-facts').replaceChildren(
    facts([
      ['KYC', application.kyc_status],
      ['Account', application.conta_bancaria_criada ? accountText(application) : 'not opened yet'],
      ['Id (a secret)', element('code', {}, application.id)],
    ]),
  );
  showSteps(steps);
  const isRequested = !missing.some((step) => step.name === 'electronic_validation');
  byId('no-code').hidden = isRequested;
  byId('confirmation').hidden = !isRequested;
  byId('missing').textContent = missing.length === 0 ? '' : `Still missing: ${inWords(missing)}.`;
  showDecision(application);
  showLiveness(application.prova_vida.url_iframe);
  schedulePoll(application);
  if (isFirst) byId('progress').focus();
}

function hasPanel({ name }) {
  return panels.some(({ dataset }) => dataset.step === name);
}

function showSteps(steps) {
  const isFocused = byId('steps').contains(document.activeElement);
  byId('steps').replaceChildren(...steps.map(stepItem));
  showPanel();
  if (isFocused) byId('steps').querySelector('[aria-current]')?.focus();
}

function stepItem(step) {
  const { name, status, error } = step;
  const content = [`${labels[name] ?? name} `, statusBadge(status), error ? ` ${error}` : ''];
  if (!hasPanel(step)) return element('li', {}, ...content);
  const button = element('button', { type: 'button', 'data-opens': name }, ...content);
  button.addEventListener('click', () => openStep(name));
  return element('li', {}, button);
}

function openStep(name) {
  current = name;
  showPanel();
  byId(`${name}-title`).focus();
}

byId('to-request').addEventListener('click', () => openStep('electronic_validation'));
byId('to-decision').addEventListener('click', () => openStep('kyc'));

function showPanel() {
  for (const panel of panels) panel.hidden = panel.dataset.step !== current;
  for (const button of byId('steps').querySelectorAll('button')) {
    const isCurrent = button.dataset.opens === current;
    if (isCurrent) button.setAttribute('aria-current', 'step');
    else button.removeAttribute('aria-current');
    if (isCurrent) centre(button.parentElement);
  }
}

/** The e-mail that the login starts with. */
const emailKey = 'ponte-dev-email';

function showDecision(application) {
  const { status } = application;
  const isDecided = status === 'APPROVED' || status === 'REJECTED';
  for (const id of ['kyc', 'sync', 'kyc-intro']) byId(id).hidden = isDecided;
  const place = byId('decided');
  if (!isDecided || place.childElementCount > 0) return;
  place.replaceChildren(
    ...(status === 'APPROVED' ? approval(application) : [outcome('bad', 'No account is opened.')]),
  );
}

function approval(application) {
  const link = element('a', { href: '/dev#/account', className: 'button' }, 'Log in now');
  link.addEventListener('click', () => {
    // The login is of the new customer.
    keepToken(null);
    sessionStorage.setItem(emailKey, sessionStorage.getItem(registeredKey) ?? '');
  });
  const words = 'The e-mail and the password are those of the registration.';
  return [
    outcome('good', `The account ${accountText(application)} is open.`),
    element('p', {}, words),
    element('div', { className: 'actions' }, link),
  ];
}

function outcome(colour, text) {
  return element('p', { className: `outcome ${colour}` }, text);
}

function showLiveness(href) {
  const place = byId('liveness-link');
  byId('to-decision').hidden = href === null;
  byId('liveness').hidden = href !== null;
  const isShown = place.querySelector('a')?.getAttribute('href') === href;
  if (isShown) return;
  const link = { href, target: '_blank', rel: 'noreferrer' };
  place.replaceChildren(href === null ? '' : element('a', link, 'Open the proof of life'));
}

function accountText({ provider }) {
  return `${provider.agency ?? '–'} / ${provider.account_number ?? '–'}`;
}

await offerScenarios({ input: 'onboarding phone', picker: 'phone-scenario', field: 'phone' });
if (applicationId() === null || !(await refresh())) byId('start').hidden = false;
