/* The login of the reference: the token that the development pages use too. A reload keeps it. */

export const development = { email: 'dev@ponte.test', password: 'ponte-dev-password' };

const tokenKey = 'ponte-dev-token';

/** Dispatches `change` when there is another token, or none. */
export const session = new EventTarget();

export function token() {
  return sessionStorage.getItem(tokenKey);
}

/** @param value null: forget the token. */
export function keepToken(value) {
  if (value === null) sessionStorage.removeItem(tokenKey);
  else sessionStorage.setItem(tokenKey, value);
  showSession();
  session.dispatchEvent(new Event('change'));
}

const byId = (id) => document.querySelector(`#${id}`);

function showSession(refusal = null) {
  const isIn = token() !== null;
  byId('session').textContent = refusal ?? (isIn ? 'Logged in.' : 'Not logged in.');
  byId('log-in').hidden = isIn;
  byId('log-out').hidden = !isIn;
}

byId('log-out').addEventListener('click', () => keepToken(null));

byId('log-in').addEventListener('click', async () => {
  try {
    const response = await fetch('/api/v1/auth/login', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'Accept-Language': 'en' },
      body: JSON.stringify(development),
    });
    const body = await response.json();
    if (response.status === 200) keepToken(body.access_token);
    else showSession(body.message);
  } catch {
    showSession('The service did not answer.');
  }
});

showSession();
