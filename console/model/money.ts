/** Amounts as people in Brazil write and read them. */

const reais = new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' });

/** An amount in reais, such as `R$ 1.234,56`. */
export function money(amount: number): string {
  return reais.format(amount).replaceAll('\u00a0', ' ');
}

const forms = [
  // 1234 and 1234,5 and 1234,56
  /^(\d+)(?:,(\d{1,2}))?$/,
  // 1.234,56 and 1.234.567,8
  /^(\d{1,3}(?:\.\d{3})+),(\d{1,2})$/,
  // 1234.5 and 1234.56, as on keyboards without a comma
  /^(\d+)\.(\d{1,2})$/,
];

/**
 * Reads an amount. A point before three digits is taken for neither a thousand nor a fraction: who
 * means a thousand must not send one real.
 * @returns reais, or null when it can be read in no way or in two.
 */
export function amountOf(text: string): number | null {
  const found = forms.map((form) => form.exec(text.trim())).find((match) => match !== null);
  if (!found) return null;
  const [, whole = '', cents = ''] = found;
  return Number(`${whole.replaceAll('.', '')}.${cents || '0'}`);
}
