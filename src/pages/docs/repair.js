/* What a screen reader needs and the package leaves out or says wrongly. */
export function repair() {
  for (const button of document.querySelectorAll('button[role=none]')) {
    button.removeAttribute('role');
  }
  // Fields of a request offer no list to choose from.
  for (const field of document.querySelectorAll('.code-input-lite__editor[role=combobox]')) {
    field.setAttribute('role', 'textbox');
    field.removeAttribute('aria-autocomplete');
  }
  for (const field of document.querySelectorAll('.cm-content:not([aria-label])')) {
    field.setAttribute('aria-label', 'Text');
  }
  for (const part of document.querySelectorAll('.scalar-client main:not([role])')) {
    part.setAttribute('role', 'group');
  }
  for (const part of document.querySelectorAll('.scalar-app-layout section[aria-live]')) {
    part.setAttribute('aria-label', 'Notifications of the request');
  }
}
