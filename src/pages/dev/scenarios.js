/* Offers the simulated bank's scenarios at the fields in which they are entered. */
import { byId, element } from './page.js';

/** Fills a list of scenarios; selecting one puts its value into the field. */
export async function offerScenarios({ input, picker, field: id }) {
  const scenarios = await loadScenarios(input);
  const select = byId(picker);
  const field = byId(id);
  const values = new Set(scenarios.map(({ value }) => written(value)));
  select.append(...scenarios.map(({ value }) => element('option', { value }, value)));
  // The effect is too long for the closed list.
  const sayEffect = () => {
    const chosen = scenarios.find(({ value }) => value === select.value);
    byId(`${picker}-effect`).textContent = chosen ? sentence(chosen.effect) : '';
  };
  select.addEventListener('change', () => {
    if (select.value !== '') field.value = written(select.value);
    else if (values.has(field.value)) field.value = field.defaultValue;
    // What was found out about another value is not true of this one.
    field.dispatchEvent(new Event('input'));
  });
  field.addEventListener('input', () => {
    const named = scenarios.find(({ value }) => written(value) === field.value);
    select.value = named?.value ?? '';
    sayEffect();
  });
}

function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}

/** A scenario of a phone states only the last digit. */
function written(value) {
  const [, digit] = /^ending in (\d)$/.exec(value) ?? [];
  return digit === undefined ? value : `+55 11 98765-432${digit}`;
}

let loading;

async function loadScenarios(input) {
  loading ??= fetch('/dev/scenarios.json').then((response) => response.json());
  const all = await loading;
  return all.filter((scenario) => scenario.input === input);
}
