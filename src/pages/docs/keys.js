/* The key of a request is in its field, and changes only when a person says so. */

const header = 'Idempotency-Key';

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
  button.addEventListener('click', () => typeKey(row.lastElementChild));
  row.children[1].append(button);
}

/** Types a new key, as a person does: the package takes a value from its field only so. */
function typeKey(cell) {
  const field = cell.querySelector('[contenteditable]');
  field.focus();
  getSelection().selectAllChildren(field);
  document.execCommand('insertText', false, crypto.randomUUID());
}
