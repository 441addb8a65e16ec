/* The account's Pix keys. */
import { call } from './api.js';
import { byId, element, onSubmit } from './page.js';
import { onShow } from './shell.js';

const place = byId('key-list');

byId('list-keys').addEventListener('click', list);
onShow('keys', list);

async function list() {
  if (place.childElementCount === 0) place.replaceChildren(element('p', {}, 'Loading…'));
  const response = await call({ path: '/pix/keys' });
  if (response.status !== 200) {
    refuse(response);
    return;
  }
  const keys = findKeys(response.body.data);
  place.replaceChildren(
    keys.length === 0
      ? element(
          'p',
          { className: 'empty' },
          'The account has no Pix keys yet: “New key” creates one.',
        )
      : element('ul', { className: 'keys' }, ...keys.map(keyItem)),
  );
}

function refuse({ body }, text = body.message) {
  place.replaceChildren(element('p', { className: 'error', role: 'alert' }, text));
}

/** Finds the keys in the provider's list, which is passed on unchanged. */
function findKeys(data) {
  const lists = [data, ...Object.values(data ?? {})].filter(Array.isArray);
  return lists.flat().flatMap((item) => (typeof item?.key === 'string' ? [item] : []));
}

const typeNames = {
  EVP_ENDERECO_VIRTUAL_DE_PAGAMENTO: 'random',
  CELULAR: 'phone',
  E_MAIL: 'e-mail',
};

function keyItem({ key, keyType }) {
  const button = element('button', { type: 'button', className: 'quiet' });
  let isConfirming = false;
  const ask = (isAsking) => {
    isConfirming = isAsking;
    button.textContent = isAsking ? 'Really delete?' : 'Delete';
    button.ariaLabel = `${button.textContent} ${key}`;
  };
  ask(false);
  button.addEventListener('click', async () => {
    if (!isConfirming) {
      ask(true);
      return;
    }
    const response = await call({ method: 'DELETE', path: '/pix/keys', body: { key } });
    byId('list-keys').focus();
    if (response.status === 200) await list();
    else refuse(response);
  });
  button.addEventListener('blur', () => ask(false));
  const type = typeNames[keyType] ?? keyType ?? 'key';
  return element('li', {}, `${type}: `, element('code', {}, key), button);
}

/** Only an e-mail key can be of another e-mail than the account's. */
function showFields() {
  const isEmail = byId('key_type').value === 'E_MAIL';
  byId('key-email-field').hidden = !isEmail;
  byId('key-email').disabled = !isEmail;
}

byId('key_type').addEventListener('change', showFields);
showFields();

onSubmit(byId('new-key'), async (values) => {
  const response = await call({ method: 'POST', path: '/pix/keys', body: values });
  if (response.status === 201) await list();
  return response;
});
