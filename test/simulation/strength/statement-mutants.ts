/**
 * Mutants of a statement, made from the tree of PostgreSQL's parser. Each omits one condition of an
 * `and`, disables one branch of a `case`, or adds or removes one phase of a list.
 */
import { isDeepStrictEqual } from 'node:util';
import { parseSync, scanSync } from 'libpg-query';
import type * as Tree from 'libpg-query';
import { phasesOfStatus } from '../../../src/domain/pix.ts';

/** A statement with one change. */
export interface StatementMutant {
  /** The change, in the words of the statement. */
  readonly change: string;
  readonly text: string;
  /** The part of the original text that is replaced. */
  readonly part: Part;
}

interface Part {
  readonly start: number;
  readonly end: number;
  readonly words: string;
}

type Fields = Readonly<Record<string, unknown>>;
type Path = readonly string[];

/** The replacement of a node. */
interface Edit {
  readonly path: Path;
  readonly change: string;
  readonly value: unknown;
  /** The replaced node, and the text of its replacement. */
  readonly replaced: unknown;
  readonly write: (words: string) => string;
}

type Put = Pick<Edit, 'value' | 'replaced' | 'write'>;

/** Replaces a condition by a constant; it stays in the text, so its parameters keep their types. */
function decided(condition: unknown, isTrue: boolean): Put {
  const word = { A_Const: { boolval: isTrue ? { boolval: true } : {} } };
  return {
    value: { CoalesceExpr: { args: [word, condition] } },
    replaced: condition,
    write: (words) => `coalesce(${isTrue}, ${words})`,
  };
}

const nothing = { value: { A_Const: { isnull: true } }, write: () => 'null' };

/** The node with the index of an `on conflict`, never changed: it would match no index. */
const leftAsItIs = 'infer';

/** Every mutant of the single statement of a text, in the order of the tree. */
export function statementMutants(text: string): StatementMutant[] {
  const root = parseRoot(text);
  const counts = new Map<string, number>();
  return editsIn(root, [], text).map((edit) => {
    const { path, change, value } = edit;
    const times = (counts.get(change) ?? 0) + 1;
    counts.set(change, times);
    let found: Part | null = null;
    const find = (): Part => {
      const tree = structuredClone(root);
      replaceAt(tree, path, value);
      return findPart(edit, text, tree);
    };
    return {
      change: times === 1 ? change : `${change} (${times})`,
      // Looked for when it runs: most mutants are only named.
      get part() {
        return (found ??= find());
      },
      get text() {
        return replacePart(text, this.part);
      },
    };
  });
}

/** A text with several changes at once, none of which is inside another. */
export function withAll(text: string, mutants: readonly StatementMutant[]): string {
  const parts = mutants.map(({ part }) => part);
  return parts.toSorted((one, other) => other.start - one.start).reduce(replacePart, text);
}

function replacePart(text: string, { start, end, words }: Part): string {
  return `${text.slice(0, start)}${words}${text.slice(end)}`;
}

function parseRoot(text: string): Tree.Node {
  const root = parseSync(text).stmts?.[0]?.stmt;
  if (!root) throw new Error('there is no statement');
  return root;
}

/**
 * Finds the text of a node. The tree records neither the end of a node nor parentheses, so this is
 * the first part of the text whose replacement results in the changed tree.
 */
function findPart({ write, replaced, change }: Edit, text: string, tree: Tree.Node): Part {
  const places = locationsIn(replaced);
  const last = Math.max(...places);
  const tokens = scanSync(text).tokens.filter((token) => token.start >= last);
  const wanted = withoutLocations(tree);
  for (let start = Math.min(...places); ; start -= 1) {
    for (const { end } of tokens) {
      if (!isBalanced(text.slice(start, end))) continue;
      const part = { start, end, words: write(text.slice(start, end)) };
      if (isDeepStrictEqual(parseTree(replacePart(text, part)), wanted)) return part;
    }
    if (text[start - 1] !== '(') throw new Error(`not found in the text: ${change}`);
  }
}

function isBalanced(words: string): boolean {
  return words.split('(').length === words.split(')').length;
}

/** @returns null for a text that is not a statement. */
function parseTree(text: string): unknown {
  try {
    return withoutLocations(parseRoot(text));
  } catch {
    return null;
  }
}

const isLocation = /^(?:location|(?:rexpr_)?list_(?:start|end))$/;

function withoutLocations(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withoutLocations);
  if (typeof node !== 'object' || node === null) return node;
  const parts = Object.entries(node).filter(([key]) => !isLocation.test(key));
  return Object.fromEntries(parts.map(([key, value]) => [key, withoutLocations(value)]));
}

function editsIn(node: unknown, path: Path, text: string): Edit[] {
  if (typeof node !== 'object' || node === null) return [];
  const inner = Object.entries(node)
    .filter(([key]) => key !== leftAsItIs)
    .flatMap(([key, value]) => editsIn(value, [...path, key], text));
  return [...listEdits(node as Fields, path, text), ...inner];
}

/** The changes of one node. */
function listEdits(node: Fields, path: Path, text: string): Edit[] {
  const left = (key: string, condition: unknown): Edit => ({
    path: [...path, ...key.split('.')],
    change: `without ${collectWords(condition, text)}`,
    ...decided(condition, true),
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
      change: `never when ${collectWords(expr, text)}`,
      ...(CaseExpr?.arg ? { ...nothing, replaced: expr } : decided(expr, false)),
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

/** The lists that can replace a list of phases. */
function phaseEdits(node: Fields, path: Path): Edit[] {
  const written = (node['sval'] as Tree.String | undefined)?.sval;
  if (typeof written === 'string' && /^\{[A-Z,]+\}$/.test(written)) {
    return otherLists(written.slice(1, -1).split(',')).map(({ change, phases }) => ({
      path: [...path, 'sval', 'sval'],
      change,
      value: `{${phases.join(',')}}`,
      replaced: node,
      write: () => `'{${phases.join(',')}}'`,
    }));
  }
  if (node['kind'] !== 'AEXPR_IN') return [];
  const { items = [] } = (node['rexpr'] as { List: Tree.List }).List;
  const words = items.map((item) => (item as { A_Const?: Tree.A_Const }).A_Const?.sval?.sval ?? '');
  return otherLists(words).map(({ change, phases }) => ({
    path: [...path, 'rexpr', 'List', 'items'],
    change,
    value: phases.map((sval) => ({ A_Const: { sval: { sval } } })),
    replaced: items,
    write: () => phases.map((phase) => `'${phase}'`).join(', '),
  }));
}

/** The lists with one open phase added or removed; none for a list of other values. */
export function otherLists(listed: readonly string[]) {
  if (!listed.every((one) => openPhases.includes(one))) return [];
  return openPhases.flatMap((phase) => {
    const rest = listed.filter((one) => one !== phase);
    const isLess = rest.length < listed.length;
    const change = `${listed.join(' or ')} ${isLess ? 'without' : 'and'} ${phase}`;
    // A list must not become empty: `in ()` is not valid SQL.
    return rest.length === 0 ? [] : [{ change, phases: isLess ? rest : [...listed, phase] }];
  });
}

const maxWordsLength = 60;

/** The text of a node, from its first word to its last. */
function collectWords(node: unknown, text: string): string {
  const places = locationsIn(node);
  const first = Math.min(...places);
  const last = Math.max(...places);
  const [end = ''] = /^(?:'[^']*'|is (?:not )?null|[\w.$]+|.)/.exec(text.slice(last)) ?? [];
  const isOpen = (part: string): boolean => part.split('(').length > part.split(')').length;
  let until = last + end.length;
  while (until < text.length && isOpen(text.slice(first, until))) until += 1;
  const words = text.slice(first, until).replaceAll(/\s+/g, ' ');
  return words.length > maxWordsLength ? `${words.slice(0, maxWordsLength)}…` : words;
}

function locationsIn(node: unknown): number[] {
  if (typeof node !== 'object' || node === null) return [];
  // The location of an implicit node is -1.
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
