/** `src/db/columns.ts`: the columns of the entities, as `npm run docs` writes them. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { MikroORM, type EntityMetadata, type EntityProperty } from '@mikro-orm/postgresql';
import { format, resolveConfig } from 'prettier';
import { ormOptions } from '../../src/db/orm.ts';
import { toSnakeCase } from '../../src/db/statement.ts';
import { root } from '../system/service-process.ts';

export const columnsFile = join(root, 'src', 'db', 'columns.ts');

const introduction = `
/**
 * The columns of every table. Generated from src/db/entities by \`npm run docs\`; do not edit.
 * From them \`rows.ts\` makes select lists and the types of rows and of parameters.
 */`.trim();

interface Column {
  readonly name: string;
  /** Its SQL type as that of a parameter, such as `text null`. */
  readonly type: string;
  /** The type of its values where the SQL type does not say which: words and JSON. */
  readonly own: string | null;
}

interface Table {
  readonly name: string;
  /** The text of the file of its entity. */
  readonly source: string;
  readonly columns: readonly Column[];
}

/** @returns the text of the file, as it is committed. */
export async function renderColumns(): Promise<string> {
  const orm = new MikroORM(ormOptions({ dbName: 'ponte' }));
  const tables = [...orm.getMetadata().getAll().values()]
    .map(readTable)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
  const text = [
    introduction,
    ...importLines(tables),
    '\n/** The SQL types of the columns, by their names in TypeScript. */',
    'export const columns = {',
    ...tables.map(({ name, columns }) => {
      const members = columns.map((column) => `${column.name}: '${column.type}',`);
      return `${name}: {\n${members.join('\n')}},`;
    }),
    '} as const;',
    '\n/** The types of values where the SQL type does not say which: words and JSON. */',
    'export interface OwnTypes {',
    ...tables.flatMap(({ name, columns }) => {
      const typed = columns.filter(({ own }) => own !== null);
      const members = typed.map((column) => `readonly ${column.name}: ${column.own};`);
      return members.length === 0 ? [] : `readonly ${name}: {\n${members.join('\n')}};`;
    }),
    '}',
  ].join('\n');
  return format(text, { ...(await resolveConfig(columnsFile)), parser: 'typescript' });
}

const sources = globSync('src/db/entities/*.ts', { cwd: root }).map((path) =>
  readFileSync(join(root, path), 'utf8'),
);

function readTable({ tableName, properties }: EntityMetadata): Table {
  const declaration = `tableName: '${tableName}',`;
  const source = sources.find((text) => text.includes(declaration)) ?? '';
  const [, declared = ''] = source.split(declaration);
  const columns = Object.values(properties).map((property) => toColumn(property, declared));
  return { name: tableName, source, columns };
}

function toColumn(property: EntityProperty, declared: string): Column {
  const [column = ''] = property.fieldNames;
  const [type = ''] = property.columnTypes;
  const name = column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  if (toSnakeCase(name) !== column) throw new Error(`${column} does not follow from ${name}`);
  const plain = type.replace(/\(.*\)$/, '');
  const sql = { bigserial: 'bigint', smallint: 'int' }[plain] ?? plain;
  // The source has what only the compiler sees, and the metadata do not.
  const declaration = new RegExp(`^ {4}${property.name}: .*(?:json|type)<(.+)>\\(\\)`, 'm');
  const own = declaration.exec(declared)?.[1] ?? (sql === 'jsonb' ? 'unknown' : null);
  return {
    name,
    type: property.nullable === true ? `${sql} null` : sql,
    own: own === 'Buffer' ? null : own,
  };
}

/** The imports of the types that the columns have. */
function importLines(tables: readonly Table[]): string[] {
  const namesByPath = new Map<string, string[]>();
  for (const { source, columns } of tables) {
    const used = new Set(columns.flatMap(({ own }) => own?.match(/\w+/g) ?? []));
    for (const [, list = '', path = ''] of source.matchAll(importOfDomain)) {
      const names = list.split(',').map((name) => name.trim().replace(/^type /, ''));
      const known = namesByPath.get(path) ?? [];
      namesByPath.set(path, [...known, ...names.filter((name) => used.has(name))]);
    }
  }
  const lines = [...namesByPath].flatMap(([path, names]) => {
    const once = [...new Set(names)].toSorted();
    return once.length === 0 ? [] : `import type { ${once.join(', ')} } from '${path}';`;
  });
  return lines.toSorted();
}

/** Its names, and its path from the folder of the columns. */
const importOfDomain = /^import (?:type )?\{([^}]*)\} from '\.\.\/([^']+)';$/gm;
