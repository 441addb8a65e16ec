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
  // The open request is a dialog in front of the reference.
  const isOpen = document.querySelector('.scalar-client--open') !== null;
  document.querySelector('.references-rendered')?.toggleAttribute('inert', isOpen);
  for (const button of document.querySelectorAll('button[aria-controls]')) {
    const controlled = document.querySelector(
      `#${CSS.escape(button.getAttribute('aria-controls'))}`,
    );
    if (!controlled) button.removeAttribute('aria-controls');
  }
  for (const part of document.querySelectorAll('.scalar-app-layout section[aria-live]')) {
    part.setAttribute('aria-label', 'Notifications of the request');
  }
}
