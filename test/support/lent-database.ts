/**
 * Databases for the files of a suite, one after the other: emptying one takes a tenth of the time
 * of creating it. One whose schema a file has changed is not lent again.
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

interface Lent<Made> {
  readonly database: Shareable<Made>;
  /** The version of the schema when it was last lent. */
  readonly version: string;
}

/** Lends each database to one user at a time. */
export class SharedDatabases<Made> {
  readonly #make: () => Promise<Shareable<Made>>;
  readonly #returned: Lent<Made>[] = [];

  constructor(make: () => Promise<Shareable<Made>>) {
    this.#make = make;
  }

  /** @returns an emptied database, and what ends its use. */
  async take(): Promise<{ readonly made: Made; giveBack(): void }> {
    const database = (await this.#reusable()) ?? (await this.#make());
    const version = await readVersion(database, emptySql);
    let isLent = true;
    // The next user empties it, because work of this user may still be stopping.
    const giveBack = (): void => {
      if (isLent) this.#returned.push({ database, version });
      isLent = false;
    };
    return { made: database.made, giveBack };
  }

  async #reusable(): Promise<Shareable<Made> | null> {
    const place = this.#returned.findIndex(({ database }) => !database.isOpen());
    const [lent] = place < 0 ? [] : this.#returned.splice(place, 1);
    if (!lent) return null;
    await lent.database.free();
    if ((await readVersion(lent.database)) === lent.version) return lent.database;
    await lent.database.destroy();
    return null;
  }
}

async function readVersion<Made>(database: Shareable<Made>, before = ''): Promise<string> {
  const [row] = await database.sql<{ version: string }>(`${before};${versionSql}`);
  return row?.version ?? '';
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
