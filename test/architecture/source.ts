/** What the rules of tidiness ask about a TypeScript file. */
import { posix } from 'node:path';
import {
  isArrowFunction,
  isCallExpression,
  isClassDeclaration,
  isExportAssignment,
  isExportDeclaration,
  isFunctionDeclaration,
  isFunctionExpression,
  isIdentifier,
  isImportDeclaration,
  isImportTypeNode,
  isImportSpecifier,
  isInterfaceDeclaration,
  isNewExpression,
  isPropertyAccessExpression,
  isStringLiteral,
  isTypeAliasDeclaration,
  isVariableStatement,
  SyntaxKind,
  type Identifier,
  type ImportSpecifier,
  type Node,
  type SourceFile,
  type Statement,
} from 'typescript/unstable/ast';

/** A place in a file; lines count from 1. */
export interface Place {
  readonly path: string;
  readonly line: number;
}

export interface Import extends Place {
  readonly specifier: string;
  /** The imported file's path from the root of the project; null for a package. */
  readonly target: string | null;
  readonly typeOnly: boolean;
}

/** A function of any kind, or the signature of one. */
export interface Callable extends Place {
  readonly name: string;
  readonly lines: number;
  readonly parameters: number;
}

/** An exported function or class. */
export interface Exported extends Place {
  readonly name: string;
  readonly documented: boolean;
}

/** A mention of something global or imported: `fetch`, `new Date()`, `node:http#request`. */
export interface Use extends Place {
  readonly name: string;
}

export interface Comment extends Place {
  readonly text: string;
}

export interface Source {
  readonly path: string;
  readonly lines: readonly string[];
  readonly imports: readonly Import[];
  readonly callables: readonly Callable[];
  readonly exported: readonly Exported[];
  readonly defaultExports: readonly Place[];
  readonly uses: readonly Use[];
  readonly comments: readonly Comment[];
  /** Nothing of it is left when the types are stripped. */
  readonly typesOnly: boolean;
}

/** Collects the facts from a tree. */
export function readSource(path: string, tree: SourceFile): Source {
  const findPlace = (position: number): Place => ({ path, line: lineAt(tree, position) });
  const nodes = everyNode(tree);
  return {
    path,
    lines: tree.text.split('\n'),
    imports: nodes.flatMap((node) => importsAt(node, findPlace)),
    callables: nodes.flatMap((node) => callableAt(node, findPlace)),
    exported: documented(tree.statements.flatMap((statement) => exportedBy(statement, findPlace))),
    defaultExports: tree.statements.filter(isDefault).map((node) => findPlace(node.getStart())),
    uses: nodes.flatMap((node) => usesAt(node, findPlace)),
    comments: commentsIn(tree.text, nodes, findPlace),
    typesOnly: tree.statements.every(isErased),
  };
}

type FindPlace = (position: number) => Place;

function everyNode(tree: SourceFile): Node[] {
  const nodes: Node[] = [];
  const visit = (node: Node): void => {
    nodes.push(node);
    node.forEachChild(visit);
  };
  visit(tree);
  return nodes;
}

function lineAt(tree: SourceFile, position: number): number {
  const starts = tree.getLineStarts();
  let low = 0;
  let high = starts.length;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if ((starts[middle] ?? 0) <= position) low = middle;
    else high = middle;
  }
  return low + 1;
}

function importsAt(node: Node, findPlace: FindPlace): Import[] {
  const found = specifierAt(node);
  if (found === null) return [];
  const place = findPlace(node.getStart());
  const { specifier, typeOnly } = found;
  const relative = specifier.startsWith('.');
  const target = relative ? posix.join(posix.dirname(place.path), specifier) : null;
  return [{ ...place, specifier, target, typeOnly }];
}

function specifierAt(node: Node): { specifier: string; typeOnly: boolean } | null {
  if (isImportDeclaration(node) || isExportDeclaration(node)) {
    const { moduleSpecifier } = node;
    if (!moduleSpecifier || !isStringLiteral(moduleSpecifier)) return null;
    const typeOnly = /^(?:import|export)\s+type\b/.test(node.getText());
    return { specifier: moduleSpecifier.text, typeOnly };
  }
  if (isCallExpression(node) && node.expression.kind === SyntaxKind.ImportKeyword) {
    const [argument] = node.arguments;
    if (argument && isStringLiteral(argument)) return { specifier: argument.text, typeOnly: false };
  }
  if (isImportTypeNode(node)) {
    const [, specifier] = /\bimport\(\s*['"]([^'"]+)/.exec(node.getText()) ?? [];
    if (specifier !== undefined) return { specifier, typeOnly: true };
  }
  return null;
}

const callableKinds = new Set([
  SyntaxKind.ArrowFunction,
  SyntaxKind.CallSignature,
  SyntaxKind.Constructor,
  SyntaxKind.FunctionDeclaration,
  SyntaxKind.FunctionExpression,
  SyntaxKind.FunctionType,
  SyntaxKind.GetAccessor,
  SyntaxKind.MethodDeclaration,
  SyntaxKind.MethodSignature,
  SyntaxKind.SetAccessor,
]);

interface Named extends Node {
  readonly name?: Node | undefined;
}

interface WithParameters extends Named {
  readonly parameters: readonly Named[];
}

function callableAt(node: Node, findPlace: FindPlace): Callable[] {
  if (!callableKinds.has(node.kind)) return [];
  const place = findPlace(node.getStart());
  const { parameters } = node as WithParameters;
  return [
    {
      ...place,
      name: getName(node) ?? getName(node.parent) ?? 'a function',
      lines: findPlace(node.getEnd()).line - place.line + 1,
      parameters: parameters.filter((parameter) => getName(parameter) !== 'this').length,
    },
  ];
}

function getName(node: Named): string | null {
  return node.name?.getText() ?? null;
}

interface WithModifiers extends Node {
  readonly modifiers?: readonly Node[] | undefined;
}

function hasModifier(node: WithModifiers, kind: SyntaxKind): boolean {
  return node.modifiers?.some((modifier) => modifier.kind === kind) ?? false;
}

function exportedBy(statement: Statement, findPlace: FindPlace): Exported[] {
  if (!hasModifier(statement, SyntaxKind.ExportKeyword)) return [];
  const { path, line } = findPlace(statement.getStart());
  const hasDocs = (statement.jsDoc ?? []).length > 0;
  return exportedNames(statement).map((name) => ({ path, line, name, documented: hasDocs }));
}

function exportedNames(statement: Statement): string[] {
  if (isFunctionDeclaration(statement) || isClassDeclaration(statement)) {
    return [getName(statement) ?? 'default'];
  }
  if (!isVariableStatement(statement)) return [];
  return statement.declarationList.declarations
    .filter(({ initializer }) => initializer && isFunctionLike(initializer))
    .map((declaration) => getName(declaration) ?? '');
}

function isFunctionLike(node: Node): boolean {
  return isArrowFunction(node) || isFunctionExpression(node);
}

/** Of an overloaded function one signature carries the docstring for all. */
function documented(exported: readonly Exported[]): Exported[] {
  const byName = Map.groupBy(exported, ({ name }) => name);
  return [...byName.values()].flatMap(([first, ...others]) =>
    first ? [{ ...first, documented: [first, ...others].some((one) => one.documented) }] : [],
  );
}

function isDefault(statement: Statement): boolean {
  return isExportAssignment(statement) || hasModifier(statement, SyntaxKind.DefaultKeyword);
}

function isErased(statement: Statement): boolean {
  if (isInterfaceDeclaration(statement) || isTypeAliasDeclaration(statement)) return true;
  if (isImportDeclaration(statement) || isExportDeclaration(statement)) {
    return /^(?:import|export)\s+type\b/.test(statement.getText());
  }
  return hasModifier(statement, SyntaxKind.DeclareKeyword);
}

function usesAt(node: Node, findPlace: FindPlace): Use[] {
  const name = useAt(node);
  return name === null ? [] : [{ ...findPlace(node.getStart()), name }];
}

function useAt(node: Node): string | null {
  if (isImportSpecifier(node)) return importedName(node);
  if (isPropertyAccessExpression(node)) return dotted(node.getText());
  if (isNewExpression(node) && isIdentifier(node.expression)) {
    const { text } = node.expression;
    return node.arguments?.length ? null : `new ${text}()`;
  }
  if (isCallExpression(node) && isIdentifier(node.expression)) return `${node.expression.text}()`;
  return isIdentifier(node) && isReference(node) ? node.text : null;
}

/** Not the name of something declared or imported here, and not the start of a dotted name. */
function isReference(node: Identifier): boolean {
  const { parent } = node;
  if (isImportSpecifier(parent) || getName(parent) === node.text) return false;
  return !(isPropertyAccessExpression(parent) && parent.expression === node);
}

/** `node:http#request` for `import { request as call } from 'node:http'`. */
function importedName(node: ImportSpecifier): string | null {
  const declaration = node.parent.parent.parent;
  if (node.isTypeOnly || !isImportDeclaration(declaration)) return null;
  const { moduleSpecifier } = declaration;
  const module = isStringLiteral(moduleSpecifier) ? moduleSpecifier.text : '';
  return `${module}#${(node.propertyName ?? node.name).getText()}`;
}

/** `globalThis.process . env` is `process.env`. */
function dotted(text: string): string {
  return text.replaceAll(/\s|\?/g, '').replace(/^globalThis\./, '');
}

const opaqueKinds = new Set([
  SyntaxKind.JsxText,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.RegularExpressionLiteral,
  SyntaxKind.StringLiteral,
  SyntaxKind.TemplateHead,
  SyntaxKind.TemplateMiddle,
  SyntaxKind.TemplateTail,
]);

/** Everything that looks like a comment and does not stand inside a literal. */
function commentsIn(text: string, nodes: readonly Node[], findPlace: FindPlace): Comment[] {
  const starts = nodes.filter(({ kind }) => opaqueKinds.has(kind));
  const literals = new Map(starts.map((node) => [node.getStart(), node.getEnd()]));
  const comments: Comment[] = [];
  let position = 0;
  while (position < text.length) {
    const end = literals.get(position) ?? commentEnd(text, position);
    if (end !== null && !literals.has(position)) {
      comments.push({ ...findPlace(position), text: text.slice(position, end) });
    }
    position = Math.max(position + 1, end ?? 0);
  }
  return comments;
}

function commentEnd(text: string, start: number): number | null {
  const line = text.startsWith('//', start);
  if (!line && !text.startsWith('/*', start)) return null;
  const end = text.indexOf(line ? '\n' : '*/', start + 2);
  if (end === -1) return text.length;
  return line ? end : end + 2;
}
