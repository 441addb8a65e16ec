/* The onboarding, step by step. The application's id is a secret and is stored in this tab only. */
import { call, uploadDocument } from './api.js';
import { parseAmount, byId, element, facts, onSubmit, showErrors, statusBadge } from './page.js';
import { offerScenarios } from './scenarios.js';

const idKey = 'ponte-dev-application';

const shortestPollMs = 500;

const longestPollMs = 10_000;

function applicationId() {
  return sessionStorage.getItem(idKey);
}

function stepPath(step) {
  return `/onboarding/${encodeURIComponent(applicationId())}${step}`;
}

onSubmit(byId('registration'), async (values) => {
  const answer = await call({ method: 'POST', path: '/onboarding/pf', body: values });
  if (answer.status === 201) keep(answer.body);
  return answer;
});

onSubmit(byId('resume'), async ({ application_id: id = '' }) => {
  const answer = await call({ path: `/onboarding/${encodeURIComponent(id.trim())}` });
  if (answer.status === 200) keep(answer.body);
  return answer;
});

byId('forget').addEventListener('click', () => {
  sessionStorage.removeItem(idKey);
  location.reload();
});

byId('refresh').addEventListener('click', refresh);

function keep(application) {
  sessionStorage.setItem(idKey, application.id);
  show(application);
  byId('progress').focus();
}

onSubmit(byId('address'), async (values) => {
  const answer = await call({ method: 'POST', path: stepPath('/address'), body: values });
  if (answer.status === 201) show(answer.body);
  return answer;
});

/**
 * The values that a CEP has filled in, by field; a field that still has its value was not edited.
 */
const filledIn = new Map();

byId('cep').addEventListener('change', async ({ target }) => {
  const digits = target.value.replaceAll(/\D/g, '');
  if (digits.length !== 8) return;
  const answer = await call({ path: `/onboarding/cep/${digits}` });
  if (answer.status !== 200) {
    byId('cep-hint').textContent = answer.body.message;
    return;
  }
  byId('cep-hint').textContent = 'The address of the CEP was filled in.';
  for (const name of ['logradouro', 'bairro', 'cidade', 'estado']) {
    const field = byId(name);
    if (field.value !== '' && field.value !== filledIn.get(name)) continue;
    field.value = answer.body.cep[name] ?? '';
    filledIn.set(name, field.value);
  }
});

for (const [form, step] of [
  ['proposal', '/proposal'],
  ['validation', '/electronic-validation'],
  ['confirmation', '/electronic-validation/confirm'],
]) {
  onSubmit(byId(form), async ({ valor_solicitado: amount, tipo, ...rest }) => {
    const body = {
      ...rest,
      ...(tipo !== undefined && { tipo: form === 'proposal' ? tipo : Number(tipo) }),
      ...(amount !== undefined && { valor_solicitado: parseAmount(amount) }),
    };
    const answer = await call({ method: 'POST', path: stepPath(step), body });
    return shown(answer);
  });
}

onSubmit(byId('liveness'), async () =>
  shown(await call({ method: 'POST', path: stepPath('/prova-vida') })),
);

onSubmit(byId('sync'), async () => shown(await call({ method: 'POST', path: stepPath('/sync') })));

onSubmit(byId('kyc'), async () => shown(await call({ path: stepPath('/kyc') })));

function shown(answer) {
  if (answer.body?.application) show(answer.body.application);
  return answer;
}

/** @returns whether the application was shown. */
async function refresh() {
  const answer = await call({ path: stepPath('') });
  if (answer.status === 200) show(answer.body);
  else if (answer.status === 404) byId('forget').click();
  return answer.status === 200;
}

const poll = { timer: null, queued: '', afterMs: shortestPollMs };

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
  if (queued !== poll.queued) poll.afterMs = shortestPollMs;
  poll.queued = queued;
  if (queued !== '') poll.timer = setTimeout(() => void pollAgain(application), poll.afterMs);
}

async function pollAgain(application) {
  poll.afterMs = Math.min(poll.afterMs * 2, longestPollMs);
  const isShown = !document.hidden && (await refresh());
  if (!isShown) schedulePoll(application);
}

function show(application) {
  byId('start').hidden = true;
  byId('wizard').hidden = false;
  byId('progress').replaceChildren(
    element('p', {}, statusBadge(application.status), ` ${application.name}`),
    element('ol', { className: 'steps' }, ...application.steps.map(stepItem)),
    facts([
      ['KYC', application.kyc_status],
      ['Account', application.conta_bancaria_criada ? accountText(application) : 'not opened yet'],
      ['Application id (a secret)', element('code', {}, application.id)],
    ]),
  );
  showLiveness(application.prova_vida.url_iframe);
  schedulePoll(application);
}

function showLiveness(href) {
  const place = byId('liveness-link');
  const isShown = place.querySelector('a')?.getAttribute('href') === href;
  if (isShown) return;
  const link = { href, target: '_blank', rel: 'noreferrer' };
  place.replaceChildren(href === null ? '' : element('a', link, 'Open the proof of life'));
}

function accountText({ provider }) {
  return `${provider.agency ?? '–'} / ${provider.account_number ?? '–'}`;
}

function stepItem({ name, status, error }) {
  return element('li', {}, `${name} `, statusBadge(status), error ? ` ${error}` : '');
}

const documents = byId('documents');

documents.addEventListener('submit', async (event) => {
  event.preventDefault();
  const chosen = byId('arquivo').files;
  const areStored = await uploadAll([...chosen]);
  // Another file may have been chosen meanwhile.
  if (areStored && byId('arquivo').files[0] === chosen[0]) byId('arquivo').value = '';
});

/** @returns whether all of them are stored. */
async function uploadAll(files) {
  showErrors(documents, null);
  if (files.length === 0) showErrors(documents, noFile);
  let stored = 0;
  for (const file of files) if (await upload(file)) stored += 1;
  return stored === files.length;
}

const noFile = {
  status: 422,
  body: { message: 'Choose a file.', errors: { arquivo: ['The field is required.'] } },
};

async function upload(file) {
  const progress = element('progress', {
    max: 1,
    value: 0,
    'aria-label': `Upload of ${file.name}`,
  });
  const words = element('span', { role: 'status' }, 'uploading');
  byId('uploads').prepend(element('li', {}, `${file.name} `, progress, ' ', words));
  const answer = await uploadDocument({
    path: stepPath('/documents'),
    kind: byId('tipo_documento').value,
    file,
    onProgress: (share) => (progress.value = share),
  });
  words.textContent = answer.status === 201 ? 'stored' : 'refused';
  if (answer.status === 201) show(answer.body);
  else showErrors(documents, answer);
  return answer.status === 201;
}

const target = byId('drop');

for (const name of ['dragenter', 'dragover']) {
  target.addEventListener(name, (event) => {
    event.preventDefault();
    target.classList.add('over');
  });
}
for (const name of ['dragleave', 'drop']) {
  target.addEventListener(name, () => target.classList.remove('over'));
}
target.addEventListener('drop', (event) => {
  event.preventDefault();
  void uploadAll([...event.dataTransfer.files]);
});

await offerScenarios({ input: 'onboarding phone', picker: 'phone-scenario', field: 'phone' });
if (applicationId() !== null) await refresh();
