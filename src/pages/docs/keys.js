/* The key of the request that is open: it is in its field, and changes only when a person says so. */

const header = 'Idempotency-Key';

let shown = null;

/** Takes the operation of the request that is open. */
export function keepOperation(operation) {
  shown = operation.parameters?.find(({ name }) => name === header) ?? null;
}

/** Adds the button to the row of the key; the package calls its row by the name of the header. */
export function addKeyButton() {
  const row = document.querySelector(`.scalar-client [id="${header}"]`);
  if (!row || row.querySelector('.new-key')) return;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'new-key';
  button.textContent = 'New key';
  button.title =
    'A repeat with this key never pays twice. Another payment or charge needs a new one.';
  button.addEventListener('click', () => {
    shown.example = crypto.randomUUID();
  });
  row.children[1].append(button);
}
