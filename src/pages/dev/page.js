/* Helpers that all sections of the pages share. */

/** Creates an element. Texts are set as text, never as markup. */
export function element(name, properties = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (key in made && key !== 'list' && key !== 'form') made[key] = value;
    else made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

export function byId(id) {
  return document.querySelector(`#${id}`);
}

/** The fields of a form as typed, without empty ones. */
function typed(form, submitter) {
  const entries = [...new FormData(form, submitter)].filter(([, value]) => value !== '');
  return Object.fromEntries(entries);
}

/**
 * Shows the errors of an answer in a form: each at its field, the rest above the button. Removes
 * previous errors first.
 */
export function showErrors(form, answer) {
  for (const old of form.querySelectorAll('.error')) old.remove();
  for (const field of form.querySelectorAll('[aria-invalid]')) {
    field.removeAttribute('aria-invalid');
    field.removeAttribute('aria-describedby');
  }
  if (answer === null || (answer.status >= 200 && answer.status < 300)) return;
  const { message = `The service answered ${answer.status}.`, errors = {}, code } = answer.body;
  const rest = Object.entries(errors).filter(([name, texts]) => !markField(form, name, texts));
  const lines = [
    code ? `${message} (${code})` : message,
    ...rest.map(([name, texts]) => `${name}: ${texts.join(' ')}`),
  ];
  const box = element('div', { className: 'error', role: 'alert' });
  box.append(...lines.map((line) => element('p', {}, line)));
  form.querySelector('.actions')?.before(box);
  form.querySelector('[aria-invalid]')?.focus();
}

function markField(form, name, texts) {
  const field = form.elements.namedItem(name);
  if (!(field instanceof HTMLElement) || field.type === 'hidden') return false;
  field.closest('details')?.setAttribute('open', '');
  const id = `${field.id}-error`;
  field.setAttribute('aria-invalid', 'true');
  field.setAttribute('aria-describedby', id);
  const words = inLabels(form, texts.join(' '));
  (field.closest('.beside') ?? field).after(element('span', { className: 'error', id }, words));
  return true;
}

/** Names the fields of a message as the form does. */
function inLabels(form, text) {
  const fields = [...form.elements].filter(({ name, labels }) => name && labels?.length > 0);
  return fields.reduce(
    (said, { name, labels }) =>
      name.includes('_') ? said.replaceAll(name, `“${labels[0].textContent.trim()}”`) : said,
    text,
  );
}

/**
 * Runs `work` at each submit of a form; until it ends the form takes no input. The values of the
 * form include the name of the button that was pressed, if it has one.
 * @param {(values: Record<string, any>) => Promise<{status: number, body: any} | null>} work
 */
export function onSubmit(form, work) {
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const button = event.submitter ?? form.querySelector('button');
    if (form.getAttribute('aria-busy') === 'true') return;
    const values = typed(form, event.submitter);
    form.setAttribute('aria-busy', 'true');
    setDisabled(form, true);
    showErrors(form, null);
    let answer = null;
    try {
      answer = await work(values);
    } finally {
      form.removeAttribute('aria-busy');
      setDisabled(form, false);
      showErrors(form, answer);
      const isElsewhere = ![document.body, null].includes(document.activeElement);
      if (!form.querySelector('[aria-invalid]') && !isElsewhere) button?.focus();
    }
  });
}

/** A key or an amount that changes while a payment is under way would belong to no payment. */
function setDisabled(form, isDisabled) {
  for (const fieldset of form.querySelectorAll('fieldset')) fieldset.disabled = isDisabled;
}

/** A description list; null is shown as a dash. */
export function facts(pairs) {
  const list = element('dl', { className: 'facts' });
  for (const [term, value] of pairs) {
    list.append(element('dt', {}, term), element('dd', {}, value ?? '–'));
  }
  return list;
}

/** A wide table scrolls in its own region, also by keyboard. */
export function table(caption, heads, rows) {
  const body = rows.map((cells) =>
    element('tr', {}, ...cells.map((cell) => element('td', {}, cell))),
  );
  const head = heads.map((text) => element('th', { scope: 'col' }, text));
  return element(
    'div',
    { className: 'wide', tabIndex: 0, role: 'region', 'aria-label': caption },
    element(
      'table',
      {},
      element('caption', {}, rows.length === 0 ? `${caption}: none` : caption),
      element('thead', {}, element('tr', {}, ...head)),
      element('tbody', {}, ...body),
    ),
  );
}

/** A status as text, with a colour in addition to the word. */
export function statusBadge(status) {
  return element('span', { className: `badge ${String(status).toLowerCase()}` }, String(status));
}

export async function copy(text, button) {
  const before = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
  } catch {
    button.textContent = 'Copying is not allowed';
  }
  setTimeout(() => (button.textContent = before), 1500);
}
