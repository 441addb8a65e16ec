/* Login, logout and the logged-in account. */
import { call, exchanges, keepToken, token } from './api.js';
import { byId, element, facts, onSubmit, statusBadge } from './page.js';

onSubmit(byId('login'), async (values) => {
  const answer = await call({ method: 'POST', path: '/auth/login', body: values });
  if (answer.status === 200) {
    keepToken(answer.body.access_token);
    await showAccount();
    // The pressed button is now hidden.
    byId('account').focus();
  }
  return answer;
});

byId('logout').addEventListener('click', async () => {
  await call({ method: 'POST', path: '/auth/logout' });
  keepToken(null);
  byId('email').focus();
});

exchanges.addEventListener('session', showSession);
exchanges.addEventListener('exchange', ({ detail }) => {
  // A refused token is now invalid; a refused login has none.
  if (detail.answer.status === 401 && token() !== null) keepToken(null);
});

/** The elements with personal data, to be cleared on logout. */
const personal = [
  'account-facts',
  'balance',
  'send-outcome',
  'send-status',
  'send-receipt',
  'charge-result',
  'statement-items',
  'transaction-items',
  'receipt',
  'key-list',
];

function showSession() {
  const isIn = token() !== null;
  if (!isIn) for (const id of personal) byId(id).replaceChildren();
  byId('login').hidden = isIn;
  byId('account').hidden = !isIn;
  for (const section of document.querySelectorAll('[data-needs-session]')) {
    section.classList.toggle('locked', !isIn);
    for (const field of section.querySelectorAll('fieldset')) field.disabled = !isIn;
  }
}

async function showAccount() {
  const answer = await call({ path: '/accounts/me' });
  if (answer.status !== 200) return;
  const { user, account } = answer.body;
  byId('account-facts').replaceChildren(
    facts([
      ['Name', user.name],
      ['E-mail', user.email],
      ['CPF or CNPJ', user.document],
      ['Account', account ? `${account.agency ?? '–'} / ${account.account_number ?? '–'}` : 'none'],
    ]),
    account
      ? statusBadge(account.status)
      : element('p', {}, 'Complete the onboarding to open an account.'),
  );
}

showSession();
if (token() !== null) await showAccount();
