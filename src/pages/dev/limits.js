/* The limits of what may be sent by day and by night. */
import { call, token } from './api.js';
import { formatAmount as money, localTime, parseAmount } from './format.js';
import { byId, element, facts, onSubmit } from './page.js';
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

function show({ period, day, night, night_from: hour, pending_night_from: later }) {
  const from = later ? `, from ${later.night_from}:00 after ${localTime(later.applies_at)}` : '';
  place.replaceChildren(
    ...limit(`By day, from 6:00 to ${hour}:00`, day, period === 'day'),
    ...limit(`By night, from ${hour}:00${from}`, night, period === 'night'),
  );
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

onSubmit(byId('set-limits'), async ({ day, night, night_from: hour }) => {
  const body = {
    ...(day !== undefined && { day: typedLimit(day) }),
    ...(night !== undefined && { night: typedLimit(night) }),
    ...(hour !== undefined && { night_from: Number(hour) }),
  };
  const response = await call({ method: 'PUT', path: '/pix/limits', body });
  if (response.status === 200) {
    show(response.body);
    byId('set-limits').reset();
  }
  return response;
});

/** What no amount is goes to the service, which refuses it beside the field. */
function typedLimit(text) {
  return text.trim().toLowerCase() === 'none' ? null : (parseAmount(text) ?? text);
}
