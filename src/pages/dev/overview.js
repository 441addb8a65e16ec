/* The overview: the balance, the account and the latest transactions. */
import { call, token } from './api.js';
import { onChange } from './changes.js';
import { byId, canBeRenewed, element } from './page.js';
import { onShow } from './shell.js';
import { renderList } from './transactions.js';

const place = byId('latest');

onShow('account', showLatest);
onChange(() => {
  if (canBeRenewed(place)) void showLatest();
});

async function showLatest() {
  if (place.childElementCount === 0) {
    place.replaceChildren(element('p', { className: 'hint', role: 'status' }, 'Loading…'));
  }
  const { status, body } = await call({ path: '/pix?limit=5' });
  if (token() === null) return;
  if (status !== 200) {
    place.replaceChildren(element('p', { className: 'error', role: 'alert' }, body.message));
    return;
  }
  place.replaceChildren(
    body.items.length === 0 ? nothingYet() : renderList('Latest transactions', body.items),
  );
}

function nothingYet() {
  const words =
    'No transaction yet. Send a Pix, make a charge, or receive a Pix from the other side of the bank.';
  return element('p', { className: 'empty' }, words);
}
