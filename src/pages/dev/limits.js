/* The limits of what may be sent by day and by night. */
import { call, token } from './api.js';
import { formatAmount as money, localTime, parseAmount } from './format.js';
import { byId, element, facts, onSubmit, withAmountError } from './page.js';
import { onShow } from './shell.js';

const place = byId('limit-list');

byId('show-limits').addEventListener('click', read);
onShow('limits', read);

async function read() {
  if (place.childElementCount === 0) place.replaceChildren(element('p', {}, 'Loading…'));
  const { status, body } = await call({ path: '/pix/limits' });
  if (token() === null) return;
  if (status === 200) show(body);
  else place.replaceChildren(element('p', { className: 'error', role: 'alert' }, body.message));
}

function show({ period, day, night, companies, own_document: own, ...nights }) {
  const { night_from: hour, pending_night_from: later } = nights;
  const from = later ? `, from ${later.night_from}:00 after ${localTime(later.applies_at)}` : '';
  place.replaceChildren(
    ...limit(`By day, from 6:00 to ${hour}:00`, day, period === 'day'),
    ...limit(`By night, from ${hour}:00${from}`, night, period === 'night'),
    ...apart('To companies, by day', companies.day, day),
    ...apart('To companies, by night', companies.night, night),
    ...apart('To your own document, by day', own.day, day),
    ...apart('To your own document, by night', own.night, night),
  );
}

/** The limit of a class of payees, unless it is the one of every payee. */
function apart(title, part, shared) {
  const isShared = ['limit', 'left', 'maximum'].every((name) => part[name] === shared[name]);
  return isShared && part.own === null && !part.pending_own ? [] : limit(title, part, false);
}

function limit(title, part, isNow) {
  const pending = (later) =>
    later ? `, ${reais(later.amount)} after ${localTime(later.applies_at)}` : '';
  return [
    element('h3', {}, isNow ? `${title} (now)` : title),
    facts([
      ['Limit', reais(part.limit)],
      ['Left', reais(part.left)],
      ['Own', (part.own === null ? 'none' : money(part.own)) + pending(part.pending_own)],
      ['Bank', reais(part.maximum) + pending(part.pending_maximum)],
      ['Whole again', localTime(part.renews_at)],
    ]),
  ];
}

function reais(amount) {
  return amount === null ? 'no limit' : money(amount);
}

onSubmit(byId('set-limits'), async ({ night_from: hour, password, ...typed }) => {
  const body = { password, ...(hour !== undefined && { night_from: Number(hour) }) };
  for (const [name, text] of Object.entries(typed)) {
    const [field, period] = name.split('.');
    const amount = typedLimit(text);
    body[field] = period === undefined ? amount : { ...body[field], [period]: amount };
  }
  const response = await call({ method: 'PUT', path: '/pix/limits', body });
  if (response.status === 200) {
    show(response.body);
    byId('set-limits').reset();
  }
  const amounts = Object.entries(typed);
  return amounts.reduce((said, [name, text]) => withAmountError(said, name, text), response);
});

/** What no amount is goes to the service, which refuses it beside the field. */
function typedLimit(text) {
  return text.trim().toLowerCase() === 'none' ? null : (parseAmount(text) ?? text);
}
