/* Fields of a request that is open: its key, and the ids that it begins with. */

const keyHeader = 'Idempotency-Key';

/** Keeps a row with the button below that of the key, which changes only when it is pressed. */
export function showKeyButton() {
  const row = rowOf(keyHeader);
  const below = document.querySelector('.new-key');
  if (below && below.previousElementSibling === row) return;
  below?.remove();
  row?.after(keyRow(row));
}

function keyRow(row) {
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'New key';
  button.addEventListener('click', () => type(row, crypto.randomUUID()));
  const cell = document.createElement('td');
  cell.append(button, 'A repeat with the same key never pays twice.');
  const below = document.createElement('tr');
  below.className = 'new-key';
  below.append(cell);
  return below;
}

/** Types the ids into the empty fields of their names, except where a person types. */
export function fillIn(ids) {
  for (const [name, id] of Object.entries(ids)) {
    const row = rowOf(name);
    const field = row && fieldOf(row);
    if (id && field?.textContent === '' && document.activeElement !== field) type(row, id);
  }
}

/** The id of a field's row is the name of the field. */
function rowOf(name) {
  return document.querySelector(`.scalar-client tr[id="${name}"]`);
}

function fieldOf(row) {
  return row.lastElementChild.querySelector('[contenteditable]');
}

/** Types a value, as a person does: the package takes a value from its field only so. */
function type(row, value) {
  const field = fieldOf(row);
  field.focus();
  getSelection().selectAllChildren(field);
  // oxlint-disable-next-line typescript/no-deprecated -- no other call types as a person does
  document.execCommand('insertText', false, value);
  field.blur();
}
