/**
 * Mutants of a statement, made from the tree that PostgreSQL's parser gives: each condition of an
 * `and` left out, each branch of a `case` never taken, each list of phases with one more or less.
 */
import { parseSync } from 'libpg-query';
import type * as Tree from 'libpg-query';
import { phasesOfStatus } from '../../../src/domain/pix.ts';

/** A statement with one change in its tree. */
export interface StatementMutant {
  /** What is changed, in the words of the statement. */
  readonly change: string;
  readonly tree: Tree.Node;
}

type Fields = Readonly<Record<string, unknown>>;
type Path = readonly string[];

/** What is put in the place of a node. */
interface Edit {
  readonly path: Path;
  readonly change: string;
  readonly value: unknown;
}

const always = { A_Const: { boolval: { boolval: true } } };
const never = { A_Const: { boolval: {} } };
const nothing = { A_Const: { isnull: true } };

/** What names the index of an `on conflict`: without it, there is no such index. */
const leftAsItIs = 'infer';

/** Every mutant of the only statement of a text, in the order of the tree. */
export function statementMutants(text: string): StatementMutant[] {
  const root = parseSync(text).stmts?.[0]?.stmt;
  if (!root) throw new Error('there is no statement');
  const told = new Map<string, number>();
  return editsIn(root, [], text).map(({ path, change, value }) => {
    const times = (told.get(change) ?? 0) + 1;
    told.set(change, times);
    const tree = structuredClone(root);
    replaceAt(tree, path, value);
    return { change: times === 1 ? change : `${change} (${times})`, tree };
  });
}

function editsIn(node: unknown, path: Path, text: string): Edit[] {
  if (typeof node !== 'object' || node === null) return [];
  const inner = Object.entries(node)
    .filter(([key]) => key !== leftAsItIs)
    .flatMap(([key, value]) => editsIn(value, [...path, key], text));
  return [...editsOf(node as Fields, path, text), ...inner];
}

/** What is changed at one node. */
function editsOf(node: Fields, path: Path, text: string): Edit[] {
  const left = (key: string, value: unknown): Edit => ({
    path: [...path, ...key.split('.')],
    change: `without ${wordsOf(value, text)}`,
    value: always,
  });
  const single = ['whereClause', 'quals'].filter((key) => isOneCondition(node[key]));
  const edits = single.map((key) => left(key, node[key]));
  if (node['boolop'] === 'AND_EXPR') {
    const args = node['args'] as readonly unknown[];
    edits.push(...args.map((value, place) => left(`args.${place}`, value)));
  }
  const { CaseExpr } = node as { CaseExpr?: Tree.CaseExpr };
  for (const [place, branch] of (CaseExpr?.args ?? []).entries()) {
    const { expr } = (branch as { CaseWhen: Tree.CaseWhen }).CaseWhen;
    edits.push({
      path: [...path, 'CaseExpr', 'args', `${place}`, 'CaseWhen', 'expr'],
      change: `never when ${wordsOf(expr, text)}`,
      value: CaseExpr?.arg ? nothing : never,
    });
  }
  return [...edits, ...phaseEdits(node, path)];
}

function isOneCondition(value: unknown): boolean {
  if (value === undefined) return false;
  const { A_Const, BoolExpr } = value as { A_Const?: Tree.A_Const; BoolExpr?: Tree.BoolExpr };
  return !A_Const && BoolExpr?.boolop !== 'AND_EXPR';
}

const openPhases: readonly string[] = phasesOfStatus.PROCESSING;

/** A list of phases, and how another one is written in its place. */
function phaseEdits(node: Fields, path: Path): Edit[] {
  const written = (node['sval'] as Tree.String | undefined)?.sval;
  if (typeof written === 'string' && /^\{[A-Z,]+\}$/.test(written)) {
    return otherLists(written.slice(1, -1).split(',')).map(({ change, phases }) => ({
      path: [...path, 'sval', 'sval'],
      change,
      value: `{${phases.join(',')}}`,
    }));
  }
  if (node['kind'] !== 'AEXPR_IN') return [];
  const { items = [] } = (node['rexpr'] as { List: Tree.List }).List;
  const words = items.map((item) => (item as { A_Const?: Tree.A_Const }).A_Const?.sval?.sval ?? '');
  return otherLists(words).map(({ change, phases }) => ({
    path: [...path, 'rexpr', 'List', 'items'],
    change,
    value: phases.map((sval) => ({ A_Const: { sval: { sval } } })),
  }));
}

/** A list of open phases with one more or less; none for a list of anything else. */
export function otherLists(listed: readonly string[]) {
  if (!listed.every((one) => openPhases.includes(one))) return [];
  return openPhases.flatMap((phase) => {
    const rest = listed.filter((one) => one !== phase);
    const isLess = rest.length < listed.length;
    const change = `${listed.join(' or ')} ${isLess ? 'without' : 'and'} ${phase}`;
    // No list is left empty: `in ()` is not SQL.
    return rest.length === 0 ? [] : [{ change, phases: isLess ? rest : [...listed, phase] }];
  });
}

const longestWords = 60;

/** The part of the text that a node was read from, from its first word to its last. */
function wordsOf(node: unknown, text: string): string {
  const places = locationsIn(node);
  const first = Math.min(...places);
  const last = Math.max(...places);
  const [end = ''] = /^(?:'[^']*'|is (?:not )?null|[\w.$]+|.)/.exec(text.slice(last)) ?? [];
  const isOpen = (part: string): boolean => part.split('(').length > part.split(')').length;
  let until = last + end.length;
  while (until < text.length && isOpen(text.slice(first, until))) until += 1;
  const words = text.slice(first, until).replaceAll(/\s+/g, ' ');
  return words.length > longestWords ? `${words.slice(0, longestWords)}…` : words;
}

function locationsIn(node: unknown): number[] {
  if (typeof node !== 'object' || node === null) return [];
  // Where nothing is written, the parser says -1.
  return Object.entries(node).flatMap(([key, value]) => {
    if (key !== 'location') return locationsIn(value);
    return typeof value === 'number' && value >= 0 ? [value] : [];
  });
}

function replaceAt(root: object, path: Path, value: unknown): void {
  let holder = root as Record<string, unknown>;
  for (const key of path.slice(0, -1)) holder = holder[key] as Record<string, unknown>;
  holder[path.at(-1) ?? ''] = value;
}
