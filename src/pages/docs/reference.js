/*
 * Shows the contract of this service, and sends requests to the same service: with the token of the
 * last login, which a reload and the development pages keep, and with the key that the request shows.
 */
import { addKeyButton } from './keys.js';
import { repair } from './repair.js';
import { forTrying, fillIn, development } from './trying.js';

const tokenKey = 'ponte-dev-token';

const configuration = {
  content: forTrying(await (await fetch('/docs/contract.json')).json()),
  // Nothing is loaded from another origin, and nothing is reported to one.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  documentDownloadType: 'none',
  hiddenClients: hiddenSamples(),
  modelsSectionLabel: 'Schemas',
  plugins: [() => ({ name: 'ponte', extensions: [], apiClientPlugins: [trying()] })],
};

const reference = window.Scalar.createApiReference('#reference', withToken());

/** Samples are shown for the languages of apps, and for the terminal. */
function hiddenSamples() {
  const others = [
    'c',
    'clojure',
    'csharp',
    'dart',
    'fsharp',
    'go',
    'http',
    'java',
    'julia',
    'node',
  ];
  const rest = ['objc', 'ocaml', 'php', 'powershell', 'python', 'r', 'ruby', 'rust'];
  const variants = { js: ['axios', 'jquery', 'ofetch', 'xhr'], shell: ['httpie', 'wget'] };
  return { ...Object.fromEntries([...others, ...rest].map((name) => [name, true])), ...variants };
}

function trying() {
  return {
    hooks: {
      onRequestMount: ({ operation }) => fillIn(operation),
      async responseReceived({ response, operation }) {
        if (response.status === 401 && token() !== null) return keepToken(null);
        if (response.status !== 200) return;
        const body = await response.json().catch(() => ({}));
        if (operation.operationId === 'login') keepToken(body.access_token);
        if (operation.operationId === 'logout') keepToken(null);
        if (operation.operationId.endsWith('Pix')) fillIn.transaction = body.transaction_id;
      },
    },
  };
}

function token() {
  return sessionStorage.getItem(tokenKey);
}

function keepToken(value) {
  if (value === null) sessionStorage.removeItem(tokenKey);
  else sessionStorage.setItem(tokenKey, value);
  reference.updateConfiguration(withToken());
  showSession();
}

function withToken() {
  const bearerAuth = { token: token() ?? '' };
  return { ...configuration, authentication: { securitySchemes: { bearerAuth } } };
}

const byId = (id) => document.getElementById(id);

function showSession(refusal = null) {
  const isIn = token() !== null;
  byId('session').textContent =
    refusal ?? (isIn ? 'Logged in: requests carry the token of the last login.' : 'Not logged in.');
  byId('log-in').hidden = isIn;
  byId('log-out').hidden = !isIn;
}

byId('log-out').addEventListener('click', () => keepToken(null));

byId('log-in').addEventListener('click', async () => {
  const answer = await fetch('/api/v1/auth/login', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(development),
  });
  const body = await answer.json();
  if (answer.status === 200) keepToken(body.access_token);
  else showSession(body.message);
});

showSession();

function amend() {
  addKeyButton();
  repair();
}

new MutationObserver(amend).observe(document.body, { childList: true, subtree: true });
