/** Compiles ON CONFLICT. */
import type * as Tree from 'libpg-query';
import { canonical } from './canonical.ts';
import { refusal } from './errors.ts';
import { assigning } from './assignments.ts';
import type { Tuple, Version } from './rows.ts';
import type { Frame, Scope } from './scope.ts';
import { conjuncts } from './select.ts';
import type { Table, Unique } from './table.ts';
import { unwrapNode } from './tree.ts';

/** Resolves a conflict of an inserted row with an existing one; null: there is no conflict. */
export type Resolve = (frame: Frame, values: Tuple) => Version | 'nothing' | null;

interface Target {
  readonly table: Table;
  /** The number of the source that holds the existing row. */
  readonly source: number;
  readonly scope: Scope;
}

/** Compiles an ON CONFLICT clause. */
export function resolveConflict(
  clause: Tree.OnConflictClause,
  { table, source, scope }: Target,
): Resolve {
  const arbiters = findArbiters(clause.infer, table);
  if (clause.action !== 'ONCONFLICT_UPDATE') {
    return (_frame, values) => (table.conflict(values, arbiters) ? 'nothing' : null);
  }
  const excluded = scope.statement.source();
  const { columns } = table;
  scope.add({ alias: 'excluded', number: excluded, columns });
  scope.visible.push(
    ...columns.map(({ name, type }, place) => ({ name, type, source: excluded, place })),
  );
  const assign = assigning(clause.targetList, table, scope);
  const conditions = conjuncts(clause.whereClause, scope).map(({ run }) => run);
  return (frame, values) => {
    const [found] = table.conflict(values, arbiters) ?? [];
    if (!found) return null;
    if (found.madeBy === frame.command) {
      throw refusal(
        'cardinality_violation',
        'ON CONFLICT DO UPDATE command cannot affect row a second time',
      );
    }
    frame.tuples[source] = found.values;
    frame.tuples[excluded] = values;
    if (conditions.some((run) => run(frame) !== true)) return 'nothing';
    return table.update(found, assign(found.values, frame), frame);
  };
}

/** The unique indexes of a clause; all of them when it names none. */
function findArbiters(infer: Tree.InferClause | undefined, table: Table): readonly Unique[] {
  if (!infer) return table.uniques;
  const keys = new Set(
    (infer.indexElems ?? []).map((node) => {
      const { name, expr } = unwrapNode(node, 'IndexElem');
      return name === undefined ? canonical(expr) : canonical(columnNamed(name));
    }),
  );
  const conditions = new Set(infer.whereClause ? canonicalParts(infer.whereClause) : []);
  const found = table.uniques.filter(
    (unique) =>
      unique.keys.size === keys.size &&
      unique.keys.isSubsetOf(keys) &&
      unique.predicate.isSubsetOf(conditions),
  );
  if (found.length > 0) return found;
  throw refusal(
    'invalid_column_reference',
    'there is no unique or exclusion constraint matching the ON CONFLICT specification',
  );
}

function columnNamed(name: string): Tree.Node {
  return { ColumnRef: { fields: [{ String: { sval: name } }] } };
}

/** The conjuncts of a condition, as canonical texts. */
export function canonicalParts(node: Tree.Node): string[] {
  if ('BoolExpr' in node && node.BoolExpr.boolop === 'AND_EXPR') {
    return (node.BoolExpr.args ?? []).flatMap(canonicalParts);
  }
  return [canonical(node)];
}
