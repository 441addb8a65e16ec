/** The parser's tree. */
import { parseSync } from 'libpg-query';
import type * as Tree from 'libpg-query';
import { NotModelled } from './errors.ts';
import { typeNamed, type Type } from './types.ts';

/** The kind and the body of a node. */
export function parts(node: Tree.Node | undefined): readonly [string, unknown] {
  const [first] = Object.entries(node ?? {});
  if (!first) throw new NotModelled('an empty node');
  return first;
}

/** The text of a node that is a name. */
export function getName(node: Tree.Node | undefined): string {
  const [kind, body] = parts(node);
  if (kind !== 'String') throw new NotModelled(`${kind} as a name`);
  return (body as Tree.String).sval ?? '';
}

/** The type that a cast or a column names. */
export function compileType(name: Tree.TypeName | undefined): Type {
  const bare = getName(name?.names?.at(-1));
  return typeNamed(name?.arrayBounds ? `${bare}[]` : bare);
}

/** The kinds of nodes, and the body of each kind. */
type KindOf<Node> = Node extends unknown ? keyof Node : never;
type Kind = KindOf<Tree.Node>;
type BodyOf<K extends Kind> = Extract<Tree.Node, Readonly<Record<K, unknown>>>[K];

/** The body of a node of a known kind. */
export function unwrapNode<K extends Kind>(node: Tree.Node | undefined, kind: K): BodyOf<K> {
  const [found, body] = parts(node);
  if (found !== kind) throw new NotModelled(`${found} in place of ${kind}`);
  return body as BodyOf<K>;
}

/** The single statement of a text. */
export function statementIn(text: string): Tree.Node {
  const [first, ...others] = parseSync(text).stmts ?? [];
  if (!first?.stmt || others.length > 0) throw new NotModelled('several statements in one text');
  return first.stmt;
}

/** The body of the single statement of a text, of a known kind. */
export function parseStatement<K extends Kind>(text: string, kind: K): BodyOf<K> {
  return unwrapNode(statementIn(text), kind);
}

/** The expression of a text. */
export function parseExpression(text: string): Tree.Node {
  const { targetList } = parseStatement(`select ${text}`, 'SelectStmt');
  const { val } = unwrapNode(targetList?.[0], 'ResTarget');
  if (!val) throw new NotModelled('an empty expression');
  return val;
}
