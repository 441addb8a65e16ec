/*
 * Shows the contract of this service, whose requests are sent to the same service: with the login of
 * the development user, the token of the last login, and a fresh key for each payment and charge.
 */
const development = { email: 'dev@ponte.test', password: 'ponte-dev-password' };

/** The key of the contract's example; a key that a person has typed stays. */
const exampleKey = '6f1c2b7e-3a54-4d0b-8a8e-2f1b9c7d5e40';

const keyHeader = 'Idempotency-Key';

const isDark = matchMedia('(prefers-color-scheme: dark)');

function followScheme() {
  document.documentElement.classList.toggle('dark-mode', isDark.matches);
}

isDark.addEventListener('change', followScheme);
followScheme();

const reference = window.SwaggerUIBundle({
  url: '/openapi.yaml',
  dom_id: '#reference',
  deepLinking: true,
  tryItOutEnabled: true,
  persistAuthorization: true,
  displayRequestDuration: true,
  // Disabled because the validator is a public service.
  validatorUrl: null,
  requestInterceptor(request) {
    if (request.headers?.[keyHeader] === exampleKey) {
      request.headers[keyHeader] = crypto.randomUUID();
    }
    return request;
  },
  responseInterceptor(response) {
    if (response.url.endsWith('/openapi.yaml')) response.text = withLogin(response.text);
    if (response.status === 200 && response.url.endsWith('/auth/login')) useToken(response.body);
    return response;
  },
});

/** Puts the development user into the example of the login. */
function withLogin(contract) {
  const { email, password } = development;
  const example = /(operationId: login\n[^]*?example:\n +email: ).*(\n +password: ).*/;
  return contract.replace(example, `$1${email}$2${password}`);
}

function useToken({ access_token: token }) {
  reference.preauthorizeApiKey('bearerAuth', token);
  document.querySelector('#session').textContent =
    'Logged in: every request is sent with the token of the last login.';
}

const regions = [
  ['.information-container', 'About the contract'],
  ['.schemes-server-container', 'Server and authorization'],
];

/** What a screen reader needs and the package leaves out. */
function repair() {
  // A link in a button: the button opens the operation.
  for (const link of document.querySelectorAll('.opblock-summary-control a[href]')) {
    link.removeAttribute('href');
  }
  for (const field of document.querySelectorAll('select, textarea, input')) {
    const isNamed = field.getAttribute('aria-label') || field.labels?.length > 0;
    if (field.id === 'servers') field.setAttribute('aria-label', 'Server');
    if (!isNamed) field.setAttribute('aria-label', labelOf(field));
  }
  const dialog = document.querySelector('.dialog-ux');
  if (dialog) repairDialog(dialog);
  for (const [part, name] of regions) {
    const box = document.querySelector(part);
    box?.setAttribute('role', 'region');
    box?.setAttribute('aria-label', name);
  }
  // Tables of answers, which are as many landmarks without a name.
  for (const table of document.querySelectorAll('table[role=region]')) table.role = 'table';
  for (const box of document.querySelectorAll('pre:not([tabindex])')) box.tabIndex = 0;
}

function repairDialog(dialog) {
  dialog.setAttribute('role', 'dialog');
  dialog.setAttribute('aria-label', 'Available authorizations');
  dialog.querySelector('.close-modal')?.setAttribute('aria-label', 'Close');
  for (const heading of dialog.querySelectorAll('h6')) heading.ariaLevel = '5';
  // Their words say it better than these names.
  for (const button of dialog.querySelectorAll('.modal-btn')) button.removeAttribute('aria-label');
}

function labelOf(field) {
  const row = field.closest('[data-param-name]');
  if (row) return row.dataset.paramName;
  if (field.classList.contains('body-param__text')) return 'Body of the request';
  return field.classList.contains('examples-select-element') ? 'Example' : 'Value';
}

new MutationObserver(repair).observe(document.body, { childList: true, subtree: true });
