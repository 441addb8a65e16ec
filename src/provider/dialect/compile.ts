/** Compiles the shapes of a dialect's file, and checks what its schema cannot express. */
import { reportedDisputeStatuses } from '../../domain/dispute.ts';
import { formatPath, parsePath, readWord, type Path } from './fields.ts';
import {
  directions,
  toList,
  meanings,
  scopes,
  silent,
  type ColumnFile,
  type DialectFile,
  type IdName,
  type OneOrMore,
  type ShapeFile,
} from './format.ts';
import type { RefusalCodes } from '../refusals.ts';
import type { Column, Condition, Envelope, Guard, Shape, ValueKind } from './shape.ts';
import type { PayeeField } from './values.ts';

/** The file of a dialect, by the name under which others refer to it. */
export interface NamedFile {
  readonly name: string;
  readonly file: DialectFile;
  /** Its codes of `not_executed`. */
  readonly codes: RefusalCodes;
}

/** Reports a fault of a shape or of a file; compilation continues. */
export type Report = (place: string, fault: string) => void;

/**
 * Compiles the shapes of all active dialects. A message with an event word of any of them is a
 * message of the shapes that name that word.
 * @param known the dialects whose fields are guarded: a field that has a meaning in any of them may
 *   have one in every message.
 */
export function compileShapes(
  files: readonly NamedFile[],
  known: readonly NamedFile[],
  { common, report }: { readonly common: RefusalCodes; readonly report: Report },
): Shape[] {
  const surroundings = { guards: guardedNames(known), words: eventNames(known), report };
  const markers = findMarkers(files);
  const shapes = files.flatMap((one) => {
    const codes = new Map([...one.codes, ...common]);
    const compiler = new ShapeCompiler(one, { ...surroundings, codes });
    return (one.file.shapes ?? []).map((shape) => compiler.compile(shape));
  });
  return shapes.map((shape) => withoutLists(withoutMarkers(shape, markers), shapes));
}

/** The places of the event words of all dialects. */
export function findMarkers(files: readonly NamedFile[]): Path[] {
  const markers = files.flatMap(({ file }) => toList(file.markers));
  return [...new Set(markers)].map(parsePath);
}

/** An event with a marker that the shape does not name is not of this shape. */
function withoutMarkers(shape: Shape, markers: readonly Path[]): Shape {
  if (!shape.of.includes('event')) return shape;
  const named = new Set(impliedConditions(shape).map(({ path }) => formatPath(path)));
  const others = markers.filter((marker) => !named.has(formatPath(marker)));
  const absent = others.map((path): Condition => ({ path, kinds: onlyAbsent, words: null }));
  return { ...shape, when: [...absent, ...shape.when] };
}

const onlyAbsent: ReadonlySet<ValueKind> = new Set(['absent']);

/** Lets a shape of a page read it only if it has none of the lists of other shapes. */
function withoutLists(shape: Shape, shapes: readonly Shape[]): Shape {
  const isPage = shape.of.some((scope) => scope === 'statement' || scope === 'key list');
  if (!isPage) return shape;
  const beside = shapes.filter(({ of }) => of.some((scope) => shape.of.includes(scope)));
  const lists = beside.flatMap(({ each }) => (each === null ? [] : [formatPath(each)]));
  const own = shape.each === null ? '' : formatPath(shape.each);
  const others = [...new Set(lists)].filter((list) => list !== own);
  const absent = others.map((list): Condition => {
    return { path: parsePath(list), kinds: noList, words: null };
  });
  return { ...shape, when: [...shape.when, ...absent] };
}

const noList: ReadonlySet<ValueKind> = new Set(['absent', 'word', 'object']);

/** The conditions of a shape, and those that follow: the value at `a.b` makes `a` an object. */
export function impliedConditions({ when }: Pick<Shape, 'when'>): readonly Condition[] {
  return when.flatMap((one) => {
    if (one.kinds.has('absent')) return [one];
    const outer = one.path.slice(0, -1).map((_, depth): Condition => {
      return { path: one.path.slice(0, depth + 1), kinds: new Set(['object']), words: null };
    });
    return [one, ...outer];
  });
}

function guardedNames(files: readonly NamedFile[]): ReadonlySet<string> {
  const declared = files.flatMap(({ file }) => toList(file.guards).map(parsePath));
  const read = files.flatMap(({ file: { shapes = [] } }) => shapes.flatMap(decisivePaths));
  const names = [...declared, ...read].flat();
  return new Set(names.filter((name) => name !== '^' && name !== '@'));
}

/** The names that the word of an event may have. */
interface EventNames {
  /** In every message. */
  readonly other: ReadonlySet<string>;
  /** In a message that has no such word. */
  readonly weak: ReadonlySet<string>;
  /** Those of the markers of all dialects as well. */
  readonly all: ReadonlySet<string>;
}

function eventNames(files: readonly NamedFile[]): EventNames {
  const names = (lists: (file: DialectFile) => OneOrMore | undefined): Set<string> =>
    new Set(files.flatMap(({ file }) => toList(lists(file)).flatMap(parsePath)));
  const other = names((file) => file.other_markers);
  const weak = names((file) => file.weak_markers);
  const all = names((file) => file.markers)
    .union(other)
    .union(weak);
  return { other, weak: weak.union(other), all };
}

/** Every path that decides about a message. Its time does not: an unread time is left out. */
function decisivePaths(shape: ShapeFile): Path[] {
  const columns = [...(shape.status ?? []), ...(shape.direction ?? [])];
  const places = [
    ...Object.keys(shape.when),
    ...columns.flatMap(({ at }) => toList(at)),
    ...[...Object.values(shape.ids ?? {}), ...Object.values(shape.payee ?? {})].flatMap(toList),
    ...toList(shape.amount?.at),
    ...toList(shape.code),
    ...toList(shape.each),
  ];
  return places.map(parsePath);
}

interface Surroundings {
  readonly guards: ReadonlySet<string>;
  readonly words: EventNames;
  readonly codes: RefusalCodes;
  readonly report: Report;
}

class ShapeCompiler {
  readonly #dialect: NamedFile;
  readonly #options: Surroundings;
  #place = '';

  constructor(dialect: NamedFile, options: Surroundings) {
    this.#dialect = dialect;
    this.#options = options;
  }

  compile(file: ShapeFile): Shape {
    const { name } = this.#dialect;
    this.#place = `${name}/${file.name}`;
    const { amount, time, whole } = file;
    const status = (file.status ?? []).map((one) => this.#column(one, meanings));
    const direction = (file.direction ?? []).map((one) => this.#column(one, directions));
    this.#checkKind(file);
    const when = Object.entries(file.when).map(([path, value]) => this.#condition(path, value));
    const of = toList(file.of ?? 'event').map((one) => this.#scope(one));
    const mayBeAnything = when.every(({ kinds }) => kinds.has('absent'));
    if (mayBeAnything && of.includes('event')) {
      this.#fault('when must require something that is present');
    }
    for (const one of when) this.#checkRecognised(one, [...status, ...direction]);
    const passesOver = new Set(paths(file.passes_over).map(formatPath));
    return {
      name: this.#place,
      kind: file.kind,
      of,
      when,
      each: file.each === undefined ? null : parsePath(file.each),
      ids: Object.entries(file.ids ?? {}).map(([id, at]) => [id as IdName, paths(at)]),
      isNamedAlone: file.alone === 'true',
      amount: amount
        ? { at: paths(amount.at), unit: amount.unit, isSigned: amount.signed === 'true' }
        : null,
      payee: Object.entries(file.payee ?? {}).map(([id, at]) => [id as PayeeField, paths(at)]),
      time: time ? { at: paths(time.at), form: time.form } : null,
      status,
      direction,
      flow: file.flow ?? null,
      code: paths(file.code),
      passesOver,
      noSigns: passesOver.union(new Set(status.flatMap(({ at }) => at.map(formatPath)))),
      notExecuted: this.#options.codes,
      envelope: compileEnvelope(file.each, whole),
      guarded: this.#guarded(file),
      otherMarkers: ofEvents.has(file.kind) ? this.#otherMarkers(file, when) : [],
      markerNames: this.#options.words.all,
    };
  }

  #fault(fault: string): void {
    this.#options.report(this.#place, fault);
  }

  #scope(scope: string): string {
    const isScope = scopes.some((one) => one === scope);
    return isScope || scope.includes('/') ? scope : `${this.#dialect.name}/${scope}`;
  }

  #condition(path: string, value: OneOrMore): Condition {
    const at = parsePath(path);
    if (typeof value !== 'string') {
      return {
        path: at,
        kinds: new Set(['word']),
        words: new Set(value.map((one) => this.#word(one))),
      };
    }
    const kinds = conditionKinds[value];
    if (!kinds)
      this.#fault(`when ${path}: ${value} is none of ${Object.keys(conditionKinds).join(', ')}`);
    return { path: at, kinds: new Set(kinds), words: null };
  }

  #word(text: string): string {
    const word = readWord(text);
    if (word === null || word === '') this.#fault(`${text} is no word`);
    return word ?? '';
  }

  #column<Word extends string>(column: ColumnFile, allowed: readonly Word[]): Column<Word> {
    const { at, absent = silent } = column;
    const words = new Map<string, Word | null>();
    for (const [text, meaning] of this.#entries(column)) {
      const word = this.#word(text);
      if (words.has(word)) this.#fault(`${text} is listed twice`);
      words.set(word, this.#meaning(text, meaning, allowed));
    }
    return { at: paths(at), words, absent: this.#meaning('absent', absent, allowed) };
  }

  #entries({ words }: ColumnFile): readonly (readonly [word: string, meaning: string])[] {
    if (typeof words === 'object' && !isList(words)) return Object.entries(words);
    return toList(words).flatMap((name) => {
      const table = this.#dialect.file.tables?.[name];
      if (!table) this.#fault(`there is no table ${name}`);
      return Object.entries(table ?? {});
    });
  }

  #meaning<Word extends string>(word: string, text: string, allowed: readonly Word[]): Word | null {
    const meaning = allowed.find((one) => one === text) ?? null;
    if (meaning === null && text !== silent) {
      this.#fault(`${word}: ${text} is none of ${[...allowed, silent].join(', ')}`);
    }
    return meaning;
  }

  /** A field that recognises a shape and also judges it has one list of words. */
  #checkRecognised({ path, words }: Condition, columns: readonly Column<string>[]): void {
    if (words === null) return;
    for (const column of columns) {
      if (!column.at.some((at) => formatPath(at) === formatPath(path))) continue;
      const [only] = words.symmetricDifference(new Set(column.words.keys()));
      if (only !== undefined) this.#fault(`${only} is in only one of when and its column`);
    }
  }

  #checkKind(file: ShapeFile): void {
    const { kind, ids, amount, status = [], each, code, flow } = file;
    const required: Readonly<Record<string, boolean>> = {
      ids: ids !== undefined,
      amount: amount !== undefined,
      status: status.length > 0,
      each: each !== undefined,
    };
    for (const key of requiredKeys[kind] ?? []) {
      if (!required[key]) this.#fault(`a shape of kind ${kind} needs ${key}`);
    }
    if (kind === 'refund' && !((ids?.endToEnd ?? ids?.txid) && ids?.returnId)) {
      this.#fault('a refund needs the ids returnId, and endToEnd or txid');
    }
    const words = status.flatMap((column) => this.#entries(column).map(([, meaning]) => meaning));
    const other = words.find(
      (word) => word !== silent && isOfDispute(word) !== (kind === 'dispute'),
    );
    if (other !== undefined) this.#fault(`a shape of kind ${kind} has no status ${other}`);
    if (kind === 'payment' && words.includes('FAILED_WITH_CODE') && code === undefined) {
      this.#fault('FAILED_WITH_CODE needs code');
    }
    if (kind !== 'received' && words.includes('EXPIRED')) {
      this.#fault('only a received Pix, that of a charge, may be EXPIRED');
    }
    if (file.alone && !ids?.providerId) this.#fault('alone needs the id providerId');
    if (flow === 'EITHER' && kind !== 'received')
      this.#fault('only a received Pix may flow EITHER way');
  }

  #guarded(file: ShapeFile): readonly Guard[] {
    const own = new Set(paths(file.guards).flat());
    return [...readNames(file)].map(([path, names]) => {
      const guards = path === '' ? this.#options.guards.union(own) : this.#options.guards;
      return { path: parseObject(path), names: guards.difference(names) };
    });
  }

  /** The word of an event stands in the message itself, or beside that of the shape. */
  #otherMarkers(file: ShapeFile, when: readonly Condition[]): readonly Guard[] {
    const { other, weak } = this.#options.words;
    const words = when.filter((one) => one.words !== null).map(({ path }) => path.slice(0, -1));
    const names = words.length === 0 ? weak : other;
    const read = readNames(file);
    return [...new Set(['', ...words.map(formatPath)])].map((path) => {
      return { path: parseObject(path), names: names.difference(read.get(path) ?? new Set()) };
    });
  }
}

/** For each object that a shape reads, as `formatPath` writes its path, the names of its fields. */
function readNames(file: ShapeFile): ReadonlyMap<string, ReadonlySet<string>> {
  const read = new Map([['', new Set<string>()]]);
  for (const path of [
    ...decisivePaths(file),
    ...paths(file.time?.at),
    ...paths(file.passes_over),
  ]) {
    if (path.includes('^') || path.includes('@')) continue;
    for (const [depth, name] of path.entries()) {
      const object = formatPath(path.slice(0, depth));
      read.set(object, (read.get(object) ?? new Set()).add(name));
    }
  }
  return read;
}

/** The path of an object; that of the message itself is empty. */
function parseObject(path: string): Path {
  return path === '' ? [] : parsePath(path);
}

/** The kinds of messages that are events, and that say something about money. */
const ofEvents: ReadonlySet<ShapeFile['kind']> = new Set([
  'payment',
  'received',
  'refund',
  'dispute',
  'list',
]);

const conditionKinds: Readonly<Record<string, readonly ValueKind[]>> = {
  absent: ['absent'],
  present: ['word', 'list', 'object'],
  word: ['word'],
  list: ['list'],
  object: ['object'],
};

const money = ['ids', 'amount', 'status'];

const requiredKeys: Readonly<Record<string, readonly string[]>> = {
  payment: money,
  received: money,
  refund: money,
  dispute: ['ids', 'status'],
  line: ['ids', 'amount'],
  list: ['each'],
  page: ['each'],
  keys: ['each'],
};

function isOfDispute(word: string): boolean {
  return reportedDisputeStatuses.some((one) => one === word);
}

function isList(words: ColumnFile['words']): words is readonly string[] {
  return Array.isArray(words);
}

function paths(at: OneOrMore | undefined): Path[] {
  return toList(at).map(parsePath);
}

function compileEnvelope(each: string | undefined, whole: ShapeFile['whole'] = {}): Envelope {
  const { full, known, ...signs } = whole;
  const declared = Object.values({ ...signs, known, each }).flatMap(toList);
  return {
    known: declared.map(parsePath),
    page: paths(signs.page),
    pages: paths(signs.pages),
    size: paths(signs.size),
    total: paths(signs.total),
    next: paths(signs.next),
    more: paths(signs.more),
    answer: paths(signs.answer),
    full: new Set(toList(full).map(Number)),
  };
}
