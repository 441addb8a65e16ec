/** CEPs, the postal codes of Brazil: their format, their states, and the streets of a sample. */
import { sampleCeps } from './cep-sample.ts';
import type { State } from './states.ts';

/** The address of a CEP; null where a part is unknown. */
export interface LocatedCep {
  /** Eight digits. */
  readonly cep: string;
  readonly logradouro: string | null;
  readonly bairro: string | null;
  readonly cidade: string | null;
  readonly estado: State;
}

/**
 * The ranges of the first five digits of each state, in ascending order (Correios, "Faixa de CEP").
 * 78900 to 78999 are unassigned since Rondônia moved to 768 and 769, and so are the codes below
 * 01000.
 */
const ranges: readonly (readonly [from: number, to: number, state: State])[] = [
  [1_000, 19_999, 'SP'],
  [20_000, 28_999, 'RJ'],
  [29_000, 29_999, 'ES'],
  [30_000, 39_999, 'MG'],
  [40_000, 48_999, 'BA'],
  [49_000, 49_999, 'SE'],
  [50_000, 56_999, 'PE'],
  [57_000, 57_999, 'AL'],
  [58_000, 58_999, 'PB'],
  [59_000, 59_999, 'RN'],
  [60_000, 63_999, 'CE'],
  [64_000, 64_999, 'PI'],
  [65_000, 65_999, 'MA'],
  [66_000, 68_899, 'PA'],
  [68_900, 68_999, 'AP'],
  [69_000, 69_299, 'AM'],
  [69_300, 69_399, 'RR'],
  [69_400, 69_899, 'AM'],
  [69_900, 69_999, 'AC'],
  [70_000, 72_799, 'DF'],
  [72_800, 72_999, 'GO'],
  [73_000, 73_699, 'DF'],
  [73_700, 76_799, 'GO'],
  [76_800, 76_999, 'RO'],
  [77_000, 77_999, 'TO'],
  [78_000, 78_899, 'MT'],
  [79_000, 79_999, 'MS'],
  [80_000, 87_999, 'PR'],
  [88_000, 89_999, 'SC'],
  [90_000, 99_999, 'RS'],
];

/**
 * Normalises a CEP as typed to its eight digits.
 *
 * @returns the digits, or null when the text is not eight digits with at most one hyphen after the
 *   fifth.
 */
export function normaliseCep(text: string): string | null {
  return /^\d{5}-?\d{3}$/.test(text) ? text.replace('-', '') : null;
}

/**
 * Looks up a CEP without the provider: the state by range, and the street for a sample of codes.
 *
 * @param cep eight digits.
 * @returns null when the code is in no state's range and therefore does not exist.
 */
export function locateCep(cep: string): LocatedCep | null {
  const firstFive = Number(cep.slice(0, 5));
  const range = ranges.find(([from, to]) => from <= firstFive && firstFive <= to);
  if (!range) return null;
  const [logradouro, bairro, cidade] = sampleCeps.get(cep) ?? [null, null, null];
  return { cep, logradouro, bairro, cidade, estado: range[2] };
}
