/** CEPs, the postal codes of Brazil: their format, their states, and the streets of a sample. */
import { foldTypography } from './text.ts';

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

/** Longer texts are refused before any pattern runs. */
const maxTypedLength = 40;

/** Eight digits as forms print them, without blanks: `01310100`, `01310-100`, `01.310-100`. */
const printed = /^\d{2}\.?\d{3}-?\d{3}$/;

/**
 * Normalises a CEP as typed or printed to its eight digits.
 *
 * @returns the digits, or null when the text is no CEP.
 */
export function normaliseCep(text: string): string | null {
  if (text.length > maxTypedLength) return null;
  const typed = foldTypography(text).replaceAll(' ', '');
  return printed.test(typed) ? typed.replace(/\D/g, '') : null;
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

/**
 * Whether a CEP may be the only one of a town or a village, whose streets and districts it does not
 * tell apart. Such a code ends in 000 (Correios); so does that of some long streets.
 *
 * @param cep as typed.
 */
export function isTownCep(cep: string): boolean {
  const digits = normaliseCep(cep);
  return digits !== null && digits.endsWith('000') && !sampleCeps.get(digits)?.[1];
}

/**
 * A few real CEPs, at least one of each state, to look up without a provider: street, district and
 * city in the spelling of Correios. A town with one CEP has an empty street and district.
 */
export const sampleCeps: ReadonlyMap<
  string,
  readonly [logradouro: string, bairro: string, cidade: string]
> = new Map([
  ['01001000', ['Praça da Sé', 'Sé', 'São Paulo']],
  ['01045001', ['Praça da República', 'República', 'São Paulo']],
  ['01310100', ['Avenida Paulista', 'Bela Vista', 'São Paulo']],
  ['17400000', ['', '', 'Garça']],
  ['54580000', ['', '', 'Cabo de Santo Agostinho']],
  ['13216000', ['Avenida São João', 'Vila Joana', 'Jundiaí']],
  ['20040002', ['Avenida Rio Branco', 'Centro', 'Rio de Janeiro']],
  ['22010000', ['Avenida Atlântica', 'Copacabana', 'Rio de Janeiro']],
  ['29946490', ['Avenida Esbertalina Barbosa Damiani', 'Guriri Norte', 'São Mateus']],
  ['30120060', ['Rua dos Carijós', 'Centro', 'Belo Horizonte']],
  ['30130005', ['Avenida Afonso Pena', 'Boa Viagem', 'Belo Horizonte']],
  ['40330200', ['Rua Conde de Porto Alegre', 'IAPI', 'Salvador']],
  ['49082600', ['Avenida Tiradentes', 'Novo Paraíso', 'Aracaju']],
  ['50030230', ['Cais do Apolo', 'Recife', 'Recife']],
  ['57307340', ['Rua Antônio Messias', 'Jardim Esperança', 'Arapiraca']],
  ['58414350', ['Rua Manoel do O. Júnior', 'Liberdade', 'Campina Grande']],
  ['59080450', ['Rua Raimundo de Medeiros Dantas', 'Neópolis', 'Natal']],
  ['60170001', ['Avenida Desembargador Moreira', 'Aldeota', 'Fortaleza']],
  ['64000290', ['Rua Arlindo Nogueira', 'Centro', 'Teresina']],
  ['65604055', ['Rua Alfredo Beleza', 'Centro', 'Caxias']],
  ['66055260', ['Avenida Governador José Malcher', 'Nazaré', 'Belém']],
  ['68908883', ['Avenida Marechal Eduardo Gomes', 'Infraero', 'Macapá']],
  ['69020060', ['Rua Major Gabriel', 'Centro', 'Manaus']],
  ['69301380', ['Praça do Centro Cívico', 'Centro', 'Boa Vista']],
  ['69900156', ['Beco da Ligação I', 'Preventório', 'Rio Branco']],
  ['71020631', ['QE 11 Área Especial C', 'Guará I', 'Brasília']],
  ['72922578', ['Quadra 35', 'Jardim América IV', 'Águas Lindas de Goiás']],
  ['75802095', ['Avenida Tocantins', 'Vila Jardim Rio Claro', 'Jataí']],
  ['76900032', ['Travessa da CDL', 'Centro', 'Ji-Paraná']],
  ['77023576', ['Quadra ARSE 102 Alameda 14 A', 'Plano Diretor Sul', 'Palmas']],
  ['78048135', ['Avenida República do Líbano', 'Despraiado', 'Cuiabá']],
  ['79002290', ['Rua da Imprensa', 'Monte Castelo', 'Campo Grande']],
  ['80530000', ['Avenida Cândido de Abreu', 'Centro Cívico', 'Curitiba']],
  ['88020231', ['Rua 13 de Maio', 'Centro', 'Florianópolis']],
  ['91260316', ['Rua São José', 'Mário Quintana', 'Porto Alegre']],
  ['96204040', ['Avenida Almirante Maximiano Fonseca', 'Zona Portuária', 'Rio Grande']],
]);

/** The codes of the 26 states of Brazil and the federal district. */
export const states = [
  'AC',
  'AL',
  'AM',
  'AP',
  'BA',
  'CE',
  'DF',
  'ES',
  'GO',
  'MA',
  'MG',
  'MS',
  'MT',
  'PA',
  'PB',
  'PE',
  'PI',
  'PR',
  'RJ',
  'RN',
  'RO',
  'RR',
  'RS',
  'SC',
  'SE',
  'SP',
  'TO',
] as const;

type State = (typeof states)[number];

/** @returns the state of a two-letter code in any case, or null. */
export function toState(text: string): State | null {
  // Tested before upper-casing, which would turn a dotless i into a plain letter.
  if (!/^[A-Za-z]{2}$/.test(text)) return null;
  return states.find((state) => state === text.toUpperCase()) ?? null;
}
