/**
 * One database for the files of a suite, one after the other: emptying it takes a tenth of the time
 * of creating one. After a file that has changed the schema, the next file gets a new database.
 */

/** A database that may be lent. */
export interface Shareable<Made> {
  readonly made: Made;
  /** Whether a service still has it open. */
  isOpen(): boolean;
  /** Runs statements as the owner of the schema. @returns the rows of the last one. */
  sql<Row>(statements: string): Promise<readonly Row[]>;
  /** Ends the sessions that the last file has left open, and restores the data folder. */
  free(): Promise<void>;
  destroy(): Promise<void>;
}

/** Lends one database to one user at a time. */
export class SharedDatabase<Made> {
  readonly #make: () => Promise<Shareable<Made>>;
  #current: Shareable<Made> | null = null;
  /** The version of the schema when the database was last lent. */
  #version = '';
  #isTaken = false;

  constructor(make: () => Promise<Shareable<Made>>) {
    this.#make = make;
  }

  /** @returns the emptied database; null while it is in use. */
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

  /** Ends the use. `take` empties the database, because work of this user may still be stopping. */
  giveBack(): void {
    this.#isTaken = false;
  }

  async #sqlVersion(current: Shareable<Made>, before = ''): Promise<string> {
    const [row] = await current.sql<{ version: string }>(`${before};${versionSql}`);
    return row?.version ?? '';
  }
}

/** The replica role skips the append-only triggers. `delete` would not shrink a large table. */
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

/** The newest transaction id in the catalogs and the migrations, and the number of their rows. */
const versionSql = `
select concat(max(xmin::text::bigint), ' ', count(*)) as version
  from (${catalogs.map((catalog) => `select xmin from ${catalog}`).join(' union all ')}) as rows`;
