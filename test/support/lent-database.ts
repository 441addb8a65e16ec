/**
 * One database for the files of a suite, one after the other: to empty it takes a tenth of the time
 * of making one. After a file that has changed the schema, the next file gets a new database.
 */

/** A database that may be lent. */
export interface Shareable<Made> {
  readonly made: Made;
  /** Whether a service still has it open. */
  isOpen(): boolean;
  /** Runs statements as the owner of the schema. @returns the rows of the last one. */
  sql<Row>(statements: string): Promise<readonly Row[]>;
  /** Ends what its last user has left of sessions, and restores its files. */
  free(): Promise<void>;
  destroy(): Promise<void>;
}

/** Lends one database, again and again. */
export class SharedDatabase<Made> {
  readonly #make: () => Promise<Shareable<Made>>;
  #current: Shareable<Made> | null = null;
  /** Of the schema, when the database was lent last. */
  #version = '';
  #isTaken = false;

  constructor(make: () => Promise<Shareable<Made>>) {
    this.#make = make;
  }

  /** @returns the database, empty; null while it is in use. */
  async take(): Promise<Made | null> {
    if (this.#isTaken || this.#current?.isOpen()) return null;
    this.#isTaken = true;
    if (this.#current) {
      await this.#current.free();
      if ((await this.#sqlVersion(this.#current)) !== this.#version) {
        await this.#current.destroy();
        this.#current = null;
      }
    }
    this.#current ??= await this.#make();
    this.#version = await this.#sqlVersion(this.#current, emptySql);
    return this.#current.made;
  }

  /** Ends the use. It is emptied for the next user: what this one has started may still stop. */
  giveBack(): void {
    this.#isTaken = false;
  }

  async #sqlVersion(current: Shareable<Made>, before = ''): Promise<string> {
    const [row] = await current.sql<{ version: string }>(`${before};${versionSql}`);
    return row?.version ?? '';
  }
}

/** Triggers keep some tables append-only. A table that has grown is cut, or it would stay long. */
const emptySql = `
do $$
declare
  it record;
begin
  perform set_config('session_replication_role', 'replica', true);
  for it in
    select oid::regclass as name, relkind, pg_relation_size(oid) > 100000 as is_long
      from pg_class
     where relkind in ('r', 'S') and relnamespace = 'public'::regnamespace
       and relname not like 'schema_migrations%'
  loop
    if it.relkind = 'S' then
      perform setval(it.name, 1, false);
    elsif it.is_long then
      execute format('truncate %s cascade', it.name);
    else
      execute format('delete from %s', it.name);
    end if;
  end loop;
end $$`;

const catalogs = [
  'pg_class',
  'pg_attribute',
  'pg_constraint',
  'pg_index',
  'pg_trigger',
  'pg_proc',
  'pg_namespace',
  'pg_db_role_setting',
  'schema_migrations',
];

/** The newest row of the catalogs and of the migrations, and how many there are. */
const versionSql = `
select concat(max(xmin::text::bigint), ' ', count(*)) as version
  from (${catalogs.map((catalog) => `select xmin from ${catalog}`).join(' union all ')}) as rows`;
