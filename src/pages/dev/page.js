/* Helpers that all sections of the pages share. */
import { parseAmount } from './format.js';

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
 * Shows the errors of a response in a form: each at its field, the rest above the button. Removes
 * previous errors first.
 */
export function showErrors(form, response) {
  for (const field of form.querySelectorAll('[aria-invalid]')) unmark(field);
  for (const old of form.querySelectorAll('.error')) old.remove();
  if (response === null || (response.status >= 200 && response.status < 300)) return;
  const { message = `The service answered ${response.status}.`, errors = {}, code } = response.body;
  const all = Object.entries(errors);
  const rest = all.filter(([name, texts]) => !markField(form, name, texts));
  form.querySelector('[aria-invalid]')?.focus();
  // The fields say it all.
  if (all.length > 0 && rest.length === 0) return;
  const lines = [
    code ? `${message} (${code})` : message,
    ...rest.map(([name, texts]) => `${name}: ${texts.join(' ')}`),
  ];
  const box = element('div', { className: 'error', role: 'alert' });
  box.append(...lines.map((line) => element('p', {}, line)));
  form.querySelector('.actions')?.before(box);
}

function markField(form, name, texts) {
  const field = form.elements.namedItem(name);
  if (!(field instanceof HTMLElement) || field.type === 'hidden') return false;
  field.closest('details')?.setAttribute('open', '');
  const id = `${field.id}-error`;
  field.setAttribute('aria-invalid', 'true');
  const hint = field.getAttribute('aria-describedby');
  field.setAttribute('aria-describedby', hint === null ? id : `${hint} ${id}`);
  const words = inLabels(form, texts.join(' '));
  (field.closest('.beside') ?? field).after(element('span', { className: 'error', id }, words));
  // What is typed now is another value.
  field.addEventListener('input', () => unmark(field), { once: true });
  return true;
}

function unmark(field) {
  field.removeAttribute('aria-invalid');
  const id = `${field.id}-error`;
  const hint = field.getAttribute('aria-describedby')?.replace(id, '').trim();
  if (hint) field.setAttribute('aria-describedby', hint);
  else field.removeAttribute('aria-describedby');
  byId(id)?.remove();
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
    let response = null;
    try {
      response = await work(values);
    } finally {
      form.removeAttribute('aria-busy');
      setDisabled(form, false);
      showErrors(form, response);
      const isElsewhere = ![document.body, null].includes(document.activeElement);
      if (!form.querySelector('[aria-invalid]') && !isElsewhere) button?.focus();
    }
  });
}

/** A key or an amount that changes while a payment is under way would belong to no payment. */
function setDisabled(form, isDisabled) {
  for (const fieldset of form.querySelectorAll('fieldset')) fieldset.disabled = isDisabled;
}

/** Replaces what the service says about an amount that the page cannot read as a number. */
export function withAmountError(response, name, text) {
  const errors = response.body?.errors;
  if (errors?.[name] === undefined || text === undefined || parseAmount(text) !== null) {
    return response;
  }
  const words = ['Must be an amount in reais, such as 1.234,56.'];
  return { ...response, body: { ...response.body, errors: { ...errors, [name]: words } } };
}

/** A CPF or CNPJ with its punctuation; another text as it is. */
export function formatTaxId(text) {
  return (text ?? '–')
    .replace(/^(\d{3})(\d{3})(\d{3})(\d\d)$/, '$1.$2.$3-$4')
    .replace(/^(\w{2})(\w{3})(\w{3})(\w{4})(\d\d)$/, '$1.$2.$3/$4-$5');
}

/** Buttons that show the passwords of the fields that they name, and hide them again. */
for (const button of document.querySelectorAll('[data-shows]')) {
  const fields = button.dataset.shows.split(' ').map(byId);
  button.ariaLabel = 'Show the password';
  button.addEventListener('click', () => {
    const isShown = fields[0].type === 'text';
    for (const field of fields) field.type = isShown ? 'password' : 'text';
    button.textContent = isShown ? 'Show' : 'Hide';
    button.ariaLabel = `${button.textContent} the password`;
  });
}

/** A description list; null is shown as a dash. */
export function facts(pairs) {
  const list = element('dl', { className: 'facts' });
  for (const [term, value] of pairs) {
    list.append(element('dt', {}, term), element('dd', {}, value ?? '–'));
  }
  return list;
}

/**
 * A wide table scrolls in its own region, also by keyboard. On a phone its rows are no table rows
 * to the browser, so the roles are written down.
 */
export function table(caption, heads, rows) {
  const body = rows.map((cells) =>
    element('tr', { role: 'row' }, ...cells.map((cell) => element('td', { role: 'cell' }, cell))),
  );
  const head = heads.map((text) => element('th', { scope: 'col', role: 'columnheader' }, text));
  return element(
    'div',
    { className: 'wide', tabIndex: 0, role: 'region', 'aria-label': caption },
    element(
      'table',
      { role: 'table' },
      element('caption', {}, rows.length === 0 ? `${caption}: none` : caption),
      element('thead', { role: 'rowgroup' }, element('tr', { role: 'row' }, ...head)),
      element('tbody', { role: 'rowgroup' }, ...body),
    ),
  );
}

/** Whether a list is shown, and no one is at work in it: its buttons would lose the focus. */
export function canBeRenewed(place) {
  const isBusy = place.contains(document.activeElement) || document.querySelector('dialog[open]');
  return place.checkVisibility() && !isBusy;
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
