/** Checks that two shapes never match one message, and how shapes refer to each other. */
import { impliedConditions, type Report } from './compile.ts';
import { formatPath } from './fields.ts';
import { scopes } from './format.ts';
import type { Condition, Shape } from './shape.ts';

/** Reports references to shapes that do not exist, and shapes that may match one message. */
export function checkShapes(shapes: readonly Shape[], report: Report): void {
  const byName = new Map<string, Shape>();
  for (const shape of shapes) {
    if (byName.has(shape.name)) report(shape.name, 'the name is used twice');
    byName.set(shape.name, shape);
  }
  for (const [index, shape] of shapes.entries()) {
    checkScopes(shape, byName, report);
    for (const other of shapes.slice(index + 1)) {
      if (!shape.of.some((scope) => other.of.includes(scope)) || exclude(shape, other)) continue;
      report(shape.name, `may match a message of ${other.name}: ${advice}`);
    }
  }
}

const advice =
  'name a field in the `when` of both whose values exclude each other, or use one dialect alone ' +
  '(PROVIDER_DIALECTS)';

function checkScopes(shape: Shape, byName: ReadonlyMap<string, Shape>, report: Report): void {
  for (const scope of shape.of) {
    if (scopes.some((one) => one === scope)) continue;
    const outer = byName.get(scope);
    if (!outer) report(shape.name, `there is no shape ${scope}`);
    else if (outer.each === null) report(shape.name, `${scope} has no list`);
  }
  if (leadsTo(shape, shape.name, { byName, seen: new Set() })) {
    report(shape.name, 'is in a list of itself');
  }
}

interface Search {
  readonly byName: ReadonlyMap<string, Shape>;
  readonly seen: Set<string>;
}

function leadsTo(shape: Shape, target: string, search: Search): boolean {
  if (search.seen.has(shape.name)) return false;
  search.seen.add(shape.name);
  return shape.of.some((scope) => {
    const outer = search.byName.get(scope);
    return scope === target || (outer !== undefined && leadsTo(outer, target, search));
  });
}

/** Whether no message can meet the conditions of both shapes. */
function exclude(one: Shape, other: Shape): boolean {
  const others = impliedConditions(other);
  return impliedConditions(one).some((first) =>
    others.some(
      (second) => formatPath(first.path) === formatPath(second.path) && differ(first, second),
    ),
  );
}

function differ(one: Condition, other: Condition): boolean {
  const both = one.kinds.intersection(other.kinds);
  if (both.size === 0) return true;
  const areWords = both.size === 1 && both.has('word');
  return (
    areWords && one.words !== null && other.words !== null && one.words.isDisjointFrom(other.words)
  );
}
