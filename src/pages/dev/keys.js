/* The account's PIX keys. */
import { call } from './api.js';
import { byId, element, onSubmit } from './page.js';

byId('list-keys').addEventListener('click', list);

async function list() {
  const answer = await call({ path: '/pix/keys' });
  const place = byId('key-list');
  if (answer.status !== 200) {
    place.replaceChildren(element('p', { className: 'error', role: 'alert' }, answer.body.message));
    return;
  }
  const keys = findKeys(answer.body.data);
  place.replaceChildren(
    keys.length === 0
      ? element('p', {}, 'The account has no PIX keys.')
      : element('ul', {}, ...keys.map(keyItem)),
  );
}

/** Finds the keys in the provider's list, which is passed on unchanged. */
function findKeys(data) {
  const lists = [data, ...Object.values(data ?? {})].filter(Array.isArray);
  return lists.flat().flatMap((item) => (typeof item?.key === 'string' ? [item] : []));
}

function keyItem({ key, keyType }) {
  const button = element('button', { type: 'button', className: 'quiet' }, `Delete ${key}`);
  let isConfirming = false;
  button.addEventListener('click', async () => {
    if (!isConfirming) {
      isConfirming = true;
      button.textContent = `Really delete ${key}?`;
      return;
    }
    await call({ method: 'DELETE', path: '/pix/keys', body: { key } });
    await list();
    byId('list-keys').focus();
  });
  return element('li', {}, `${keyType ?? 'key'}: `, element('code', {}, key), ' ', button);
}

onSubmit(byId('new-key'), async (values) => {
  const answer = await call({ method: 'POST', path: '/pix/keys', body: values });
  if (answer.status === 201) await list();
  return answer;
});
