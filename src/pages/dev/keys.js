/* The account's PIX keys. */
import { call } from './api.js';
import { byId, element, onSubmit } from './page.js';

byId('list-keys').addEventListener('click', list);

async function list() {
  const answer = await call({ path: '/pix/keys' });
  const place = byId('key-list');
  if (answer.status !== 200) {
    place.replaceChildren(element('p', { className: 'fault', role: 'alert' }, answer.body.message));
    return;
  }
  const keys = keysOf(answer.body.data);
  place.replaceChildren(
    keys.length === 0
      ? element('p', {}, 'The account has no PIX keys.')
      : element('ul', {}, ...keys.map(itemOf)),
  );
}

/** What the provider says is passed on as it comes: the keys are wherever a `key` is. */
function keysOf(data) {
  const lists = [data, ...Object.values(data ?? {})].filter(Array.isArray);
  return lists.flat().flatMap((item) => (typeof item?.key === 'string' ? [item] : []));
}

function itemOf({ key, keyType }) {
  const button = element('button', { type: 'button', className: 'quiet' }, `Delete ${key}`);
  let isAsked = false;
  button.addEventListener('click', async () => {
    if (!isAsked) {
      isAsked = true;
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
