/* The simulated bank's magic values, offered where they can be entered. */
import { byId, element } from './page.js';

/** Fills a list to pick from; a pick puts the value into the field. */
export async function offerScenarios({ given, picker, field }) {
  const scenarios = await scenariosOf(given);
  const select = byId(picker);
  select.append(
    ...scenarios.map(({ value, happens }) => element('option', { value }, `${value}: ${happens}`)),
  );
  select.addEventListener('change', () => {
    if (select.value !== '') byId(field).value = written(select.value);
  });
}

/** A scenario of phones tells only their last digit. */
function written(value) {
  const [, digit] = /^ending in (\d)$/.exec(value) ?? [];
  return digit === undefined ? value : `+55 11 98765-432${digit}`;
}

let loading;

async function scenariosOf(given) {
  loading ??= fetch('/dev/scenarios.json').then((answer) => answer.json());
  const all = await loading;
  return all.filter((scenario) => scenario.given === given);
}
