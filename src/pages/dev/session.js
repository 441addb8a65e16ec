/* Login, logout, the logged-in account and its balance. */
import { call, exchanges, keepToken, token } from './api.js';
import { onChange } from './changes.js';
import { formatAmount as money, formatBank } from './format.js';
import { byId, element, facts, formatTaxId, onSubmit, statusBadge } from './page.js';
import { sessionEnded } from './outcomes.js';
import { onShow } from './shell.js';

/** The e-mail of a customer who has just been approved, as the onboarding hands it over. */
const emailKey = 'ponte-dev-email';

onSubmit(byId('login'), async (values) => {
  const response = await call({ method: 'POST', path: '/auth/login', body: values });
  if (response.status === 200) {
    byId('login-reason').replaceChildren();
    keepToken(response.body.access_token);
    // The pressed button is now hidden.
    byId('main').focus({ preventScroll: true });
    await showAccount();
  }
  return response;
});

byId('logout').addEventListener('click', async () => {
  const response = await call({ method: 'POST', path: '/auth/logout' });
  endSession(
    response.status === 200
      ? 'You are logged out.'
      : 'You are logged out here; the service did not confirm it.',
  );
});

exchanges.addEventListener('session', showSession);
exchanges.addEventListener('exchange', ({ detail: { response } }) => {
  // A refused token is now invalid; a refused login has none.
  if (response.status !== 401 || token() === null) return;
  endSession(sessionEnded);
});

function endSession(reason) {
  keepToken(null);
  byId('login-reason').textContent = reason;
  byId('email').focus();
}

/* As `/accounts/me` reports it. */
let customer = null;

/** The elements with personal data, to be cleared on logout. */
const personal = [
  'who',
  'account-facts',
  'balance',
  'overview-balance',
  'latest',
  'send-outcome',
  'send-status',
  'send-receipt',
  'send-payee',
  'charge-outcome',
  'charge-result',
  'statement-items',
  'key-list',
];

function showSession() {
  const isIn = token() !== null;
  if (!isIn) for (const id of personal) byId(id).replaceChildren();
  if (!isIn) for (const said of document.querySelectorAll('.said')) said.replaceChildren();
  if (!isIn) customer = null;
  byId('account-bar').hidden = !isIn;
  byId('logout').hidden = !isIn;
}

/** The e-mail of the logged-in customer; empty before. */
export function customerEmail() {
  return customer?.user.email ?? '';
}

async function showAccount() {
  byId('account-facts').replaceChildren(element('p', { className: 'hint' }, 'Loading…'));
  const response = await call({ path: '/accounts/me' });
  if (response.status !== 200) return;
  customer = response.body;
  const { user, account } = customer;
  const number = account ? `${account.agency ?? '–'} / ${account.account_number ?? '–'}` : 'none';
  byId('who').replaceChildren(
    element('strong', {}, user.name),
    element('span', {}, account ? `Account ${number}` : 'No account'),
  );
  byId('account-facts').replaceChildren(
    facts([
      ['Name', user.name],
      ['E-mail', user.email],
      ['CPF or CNPJ', formatTaxId(user.document)],
      ['Account', number],
      ['Bank', account ? formatBank(account.bank) : undefined],
      ['Status', account ? statusBadge(account.status) : 'no account yet'],
    ]),
    ...(account ? [] : [element('a', { href: '/dev/onboarding' }, 'Open an account')]),
  );
  await refreshBalance();
}

async function refreshBalance() {
  if (token() === null) return;
  const { status, body } = await call({ path: '/accounts/balance' });
  if (token() === null) return;
  const isKnown = status === 200;
  const note =
    body.source === 'provider' ? '' : element('span', {}, ' last known: the bank does not answer');
  byId('balance').replaceChildren(
    ...(isKnown
      ? [element('strong', {}, money(body.balance)), blockedNote(body), note]
      : [element('span', {}, body.message)]),
  );
  byId('overview-balance').textContent = isKnown ? money(body.balance) : '–';
}

function blockedNote({ blocked }) {
  return blocked === undefined ? '' : element('span', {}, ` of which ${money(blocked)} is blocked`);
}

byId('show-balance').addEventListener('click', refreshBalance);
onChange(refreshBalance);

// With a real provider the balance may change without a transaction of Ponte.
onShow('account', () => {
  // At first the account is read, and the balance after it.
  if (customer !== null) void refreshBalance();
});

const approved = sessionStorage.getItem(emailKey);
if (approved !== null && token() === null) {
  sessionStorage.removeItem(emailKey);
  if (approved !== '') byId('email').value = approved;
  byId('password').value = '';
  byId('login-hint').hidden = true;
  byId('login-reason').textContent =
    'The account is open. Log in with the password of the registration.';
  byId('password').focus();
}
showSession();
if (token() !== null) await showAccount();
