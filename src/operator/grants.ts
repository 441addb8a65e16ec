/**
 * `migrate grants`: the SQL that creates the database roles. The migrator owns the schema; the
 * service reads and writes rows, and cannot drop the triggers that keep tables append-only. An
 * administrator runs it, because Ponte lacks the privileges.
 */

/** The names of the roles. */
export interface Roles {
  readonly migrator: string;
  readonly service: string;
  /** Reads everything, and writes nothing. */
  readonly readOnly: string;
}

/** The SQL, for the tables of the schema `public`, in one transaction. */
export function grantsSql(roles: Roles): string {
  return [
    "-- Roles of Ponte's database. Run this in that database as a superuser, or as the owner of its",
    '-- tables with CREATEROLE; run it again after each upgrade. A repeat changes nothing.',
    'begin;',
    "set local lock_timeout = '5s';",
    ownership(roles),
    rights(roles),
    hiddenColumns(roles),
    appendOnly(roles),
    'commit;\n',
  ].join('\n');
}

/** Creates the missing roles, and makes the migrator the owner of everything. */
function ownership(roles: Roles): string {
  const migrator = quoted(roles.migrator);
  const names = [roles.migrator, roles.service, roles.readOnly].map(literal);
  return `
do $$
declare
  role text;
  change text;
begin
  foreach role in array array[${names.join(', ')}]
  loop
    if not exists (select from pg_roles where rolname = role) then
      execute format('create role %I login', role);
    end if;
  end loop;
  if not pg_has_role(current_user, ${literal(roles.migrator)}, 'member') then
    grant ${migrator} to current_user;
  end if;
  -- The owner of a database may drop its schema.
  if (select pg_get_userbyid(datdba) from pg_database where datname = current_database())
     = ${literal(roles.service)} then
    execute format('alter database %I owner to ${migrator}', current_database());
  end if;
  grant usage, create on schema public to ${migrator};
  -- The sequences of columns follow their tables.
  for change in
    select format('alter table %s owner to ${migrator}', c.oid::regclass)
      from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
       and c.relowner <> ${literal(migrator)}::regrole
       and not exists (select from pg_depend where objid = c.oid and deptype = 'e')
     union all
    select format('alter function %s owner to ${migrator}', p.oid::regprocedure)
      from pg_proc p
     where p.pronamespace = 'public'::regnamespace and p.prokind = 'f'
       and p.proowner <> ${literal(migrator)}::regrole
       and not exists (select from pg_depend where objid = p.oid and deptype = 'e')
  loop
    execute change;
  end loop;
end $$;`;
}

/** The privileges of the service and the reader, also on the tables of later migrations. */
function rights(roles: Roles): string {
  const [migrator, service, readOnly] = [
    quoted(roles.migrator),
    quoted(roles.service),
    quoted(roles.readOnly),
  ];
  return `
revoke create on schema public from public;
revoke all on schema public from ${service}, ${readOnly};
grant usage on schema public to ${service}, ${readOnly};

revoke all on all tables in schema public from public, ${service}, ${readOnly};
revoke all on all sequences in schema public from public, ${service}, ${readOnly};
grant select, insert, update, delete on all tables in schema public to ${service};
grant usage on all sequences in schema public to ${service};
grant select on all tables in schema public to ${readOnly};
-- The rules of a row are a function, which its writer runs.
grant execute on all functions in schema public to ${service};

-- The objects of later migrations.
alter default privileges for role ${migrator} in schema public
  grant select, insert, update, delete on tables to ${service};
alter default privileges for role ${migrator} in schema public
  grant usage on sequences to ${service};
alter default privileges for role ${migrator} in schema public
  grant execute on functions to ${service};
alter default privileges for role ${migrator} in schema public
  grant select on tables to ${readOnly};`;
}

/**
 * What a reader could use to act as somebody, or to open what is sealed: each table with its
 * columns. The migration `filled_and_indexed` hides them from readers of the tables that it finds.
 */
const hiddenFromReaders: Readonly<Record<string, readonly string[]>> = {
  accounts: ['provider_client_token'],
  banking_sessions: ['sealed_token'],
  onboarding_applications: ['id', 'client_token', 'sealed_code'],
  onboarding_documents: ['application_id'],
  onboarding_document_chunks: ['sealed_content'],
  pix_disputes: ['details'],
  users: ['password_hash'],
};

/** Lets the reader read the other columns of the tables with hidden ones. */
function hiddenColumns(roles: Roles): string {
  const readOnly = quoted(roles.readOnly);
  const pairs = Object.entries(hiddenFromReaders).flatMap(([table, columns]) =>
    columns.map((column) => `('${table}', '${column}')`),
  );
  return `
-- No password hash, no sealed value, no token, and no id of an application.
do $$
declare
  shown record;
begin
  for shown in
    select c.oid::regclass as name,
           string_agg(quote_ident(attname), ', ' order by attnum) as columns
      from pg_class c join pg_attribute on attrelid = c.oid and attnum > 0 and not attisdropped
      left join (values ${pairs.join(',\n                        ')}
        ) hidden (table_name, column_name) on table_name = relname and column_name = attname
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
       and relname in (${Object.keys(hiddenFromReaders)
         .map((table) => `'${table}'`)
         .join(', ')})
       and column_name is null
     group by c.oid
  loop
    execute format('revoke select on %s from ${readOnly}', shown.name);
    execute format('grant select (%s) on %s to ${readOnly}', shown.columns, shown.name);
  end loop;
end $$;`;
}

/** Restricts append-only tables to inserts, and the list of migrations to reads. */
function appendOnly(roles: Roles): string {
  const service = quoted(roles.service);
  return `
do $$
declare
  append_only regclass;
begin
  for append_only in
    select tgrelid::regclass from pg_trigger join pg_class c on c.oid = tgrelid
     where c.relnamespace = 'public'::regnamespace and tgname like '%\\_append\\_only'
  loop
    execute format('revoke update, delete on %s from ${service}', append_only);
  end loop;
  if to_regclass('public.schema_migrations') is not null then
    revoke insert, update, delete on public.schema_migrations from ${service};
  end if;
end $$;`;
}

/** Quotes a name as an SQL identifier. */
function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
