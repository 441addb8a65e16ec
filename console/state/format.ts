/**
 * Amounts and times as texts. Customers read São Paulo time, operators UTC. The development pages
 * serve this module too (`src/pages/index.ts`): it imports nothing.
 */

const reais = new Intl.NumberFormat('pt-BR', { style: 'currency', currency: 'BRL' });

/** @returns an amount in reais, such as `R$ 1.234,56`. */
export function formatAmount(amount: number): string {
  return reais.format(amount).replaceAll('\u00a0', ' ');
}

const amountPatterns = [
  // 1234 and 1234,5 and 1234,56
  /^(\d+)(?:,(\d{1,2}))?$/,
  // 1.234,56 and 1.234.567,8
  /^(\d{1,3}(?:\.\d{3})+),(\d{1,2})$/,
  // 1234.5 and 1234.56, as on keyboards without a comma
  /^(\d+)\.(\d{1,2})$/,
];

/**
 * Reads an amount. `1.234` could be a thousand or a fraction, so it is refused: a person who means
 * one thousand must not send one.
 * @returns reais, or null when the text is not an amount or could be two different ones.
 */
export function parseAmount(text: string): number | null {
  const match = amountPatterns.map((pattern) => pattern.exec(text.trim())).find(Boolean);
  if (!match) return null;
  const [, whole = '', cents = ''] = match;
  return Number(`${whole.replaceAll('.', '')}.${cents || '0'}`);
}

/**
 * Reads a day as people write it, such as `22/11/2026`, or as ISO 8601 does.
 * @returns ISO 8601; another text stays as it is, and the service says what is wrong with it.
 */
export function parseDay(text: string): string {
  const [, day = '', month = '', year = ''] =
    /^(\d{1,2})[/.](\d{1,2})[/.](\d{4})$/.exec(text.trim()) ?? [];
  return year === '' ? text.trim() : `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
}

/** @returns a day of ISO 8601 as people write it, such as `22/11/2026`; another text as it is. */
export function formatDay(iso: string): string {
  return iso.replace(/^(\d{4})-(\d\d)-(\d\d)$/, '$3/$2/$1');
}

/**
 * @returns an institution with what is known of it, such as `Banco do Brasil S.A. (ISPB 00000000)`.
 * @param bank `PixBank` of the contract, which this module does not import.
 */
export function formatBank(bank: {
  readonly ispb: string;
  readonly name: string | null;
  readonly document?: string | undefined;
}): string {
  const { ispb, name, document } = bank;
  const ids =
    document === undefined ? `ISPB ${ispb}` : `ISPB ${ispb}, CNPJ ${formatTaxId(document)}`;
  return name === null ? ids : `${name} (${ids})`;
}

/** @returns a CPF or a CNPJ as people write it; another text as it is. */
export function formatTaxId(text: string): string {
  return text
    .replace(/^(\d{3})(\d{3})(\d{3})(\d{2})$/, '$1.$2.$3-$4')
    .replace(/^(\w{2})(\w{3})(\w{3})(\w{4})(\d{2})$/, '$1.$2.$3/$4-$5');
}

/** The zone of the provider and of statements. The comma after the day is left out. */
const local = new Intl.DateTimeFormat('pt-BR', {
  timeZone: 'America/Sao_Paulo',
  hourCycle: 'h23',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/** @returns a time as people write it, such as `21/11/2026 03:49:13`; another text as it is. */
export function localTime(iso: string): string {
  // Date also reads texts such as `Rent 5`.
  const time = new Date(/^\d{4}-\d\d-\d\dT/.test(iso) ? iso : NaN);
  return Number.isNaN(time.getTime()) ? iso : local.format(time).replace(',', '');
}

/** @returns a time for a list, such as `21/11 03:49`. */
export function shortLocalTime(iso: string): string {
  return localTime(iso).replace(/^(\d+\/\d+)\/\d+ (\d+:\d+):\d+$/, '$1 $2');
}

/** @returns a time in UTC, as in the log: `2026-11-21 03:49:13Z`. */
export function utcTime(iso: string): string {
  return iso.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/, '$1 $2Z');
}

/** @returns a time in UTC for a list, such as `21/11 03:49Z`. */
export function shortUtcTime(iso: string): string {
  return utcTime(iso).replace(/^\d+-(\d+)-(\d+) (\d+:\d+):\d+Z$/, '$2/$1 $3Z');
}
