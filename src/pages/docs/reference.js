/*
 * Shows the contract of this service, and sends requests to the same service: with the token of the
 * last login, and with the key that the request shows.
 */
import { fillIn, showKeyButton } from './fields.js';
import { findTransaction, known, noteResponse, prepare } from './prefill.js';
import { repair } from './repair.js';
import { keepToken, session, token } from './session.js';

await findTransaction();
session.addEventListener('change', findTransaction);

window.Scalar.createApiReference('#reference', {
  content: prepare(await (await fetch('/docs/contract.json')).json()),
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
  plugins: [() => ({ name: 'ponte', extensions: [], apiClientPlugins: [requests()] })],
});

/** Samples are shown for the languages of apps, and for the terminal. */
function hiddenSamples() {
  const first = 'c clojure csharp dart fsharp go http java julia node';
  const others = `${first} objc ocaml php powershell python r ruby rust`.split(' ');
  return {
    ...Object.fromEntries(others.map((name) => [name, true])),
    js: ['axios', 'jquery', 'ofetch', 'xhr'],
    shell: ['httpie', 'wget'],
  };
}

/** What the reference does with the requests that it sends. */
function requests() {
  return {
    hooks: {
      requestBuilt({ request }) {
        const isProtected = request.headers.has('Authorization');
        if (isProtected && token()) request.headers.set('Authorization', `Bearer ${token()}`);
      },
      async responseReceived({ response, operation }) {
        if (response.status === 401 && token() !== null) keepToken(null);
        if (response.status >= 300) return;
        const body = await response.json().catch(() => ({}));
        if (operation.operationId === 'login') keepToken(body.access_token);
        else if (operation.operationId === 'logout') keepToken(null);
        else noteResponse(operation.operationId, body);
      },
    },
  };
}

function amend() {
  showKeyButton();
  fillIn(known);
  repair();
}

const observed = { childList: true, subtree: true, attributeFilter: ['class'] };
new MutationObserver(amend).observe(document.body, observed);
