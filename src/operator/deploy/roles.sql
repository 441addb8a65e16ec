-- Roles of Ponte's database. Run this in that database as a superuser, or as the owner of its
-- tables with CREATEROLE; run it again after each upgrade. A repeat changes nothing.
begin;
set local lock_timeout = '5s';

do $$
declare
  role text;
  change text;
begin
  foreach role in array array['ponte_migrator', 'ponte_service', 'ponte_readonly']
  loop
    if not exists (select from pg_roles where rolname = role) then
      execute format('create role %I login', role);
    end if;
  end loop;
  if not pg_has_role(current_user, 'ponte_migrator', 'member') then
    grant "ponte_migrator" to current_user;
  end if;
  -- The owner of a database may drop its schema.
  if (select pg_get_userbyid(datdba) from pg_database where datname = current_database())
     = 'ponte_service' then
    execute format('alter database %I owner to "ponte_migrator"', current_database());
  end if;
  grant usage, create on schema public to "ponte_migrator";
  -- The sequences of columns follow their tables.
  for change in
    select format('alter table %s owner to "ponte_migrator"', c.oid::regclass)
      from pg_class c
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm')
       and c.relowner <> '"ponte_migrator"'::regrole
       and not exists (select from pg_depend where objid = c.oid and deptype = 'e')
     union all
    select format('alter function %s owner to "ponte_migrator"', p.oid::regprocedure)
      from pg_proc p
     where p.pronamespace = 'public'::regnamespace and p.prokind = 'f'
       and p.proowner <> '"ponte_migrator"'::regrole
       and not exists (select from pg_depend where objid = p.oid and deptype = 'e')
  loop
    execute change;
  end loop;
end $$;

revoke create on schema public from public;
revoke all on schema public from "ponte_service", "ponte_readonly";
grant usage on schema public to "ponte_service", "ponte_readonly";

revoke all on all tables in schema public from public, "ponte_service", "ponte_readonly";
revoke all on all sequences in schema public from public, "ponte_service", "ponte_readonly";
grant select, insert, update, delete on all tables in schema public to "ponte_service";
grant usage on all sequences in schema public to "ponte_service";
grant select on all tables in schema public to "ponte_readonly";
-- The rules of a row are a function, which its writer runs.
grant execute on all functions in schema public to "ponte_service";

-- The objects of later migrations.
alter default privileges for role "ponte_migrator" in schema public
  grant select, insert, update, delete on tables to "ponte_service";
alter default privileges for role "ponte_migrator" in schema public
  grant usage on sequences to "ponte_service";
alter default privileges for role "ponte_migrator" in schema public
  grant execute on functions to "ponte_service";
alter default privileges for role "ponte_migrator" in schema public
  grant select on tables to "ponte_readonly";

-- No password hash, no sealed value, no token, and no id of an application.
do $$
declare
  shown record;
begin
  for shown in
    select c.oid::regclass as name,
           string_agg(quote_ident(attname), ', ' order by attnum) as columns
      from pg_class c join pg_attribute on attrelid = c.oid and attnum > 0 and not attisdropped
      left join (values ('accounts', 'provider_client_token'),
                        ('banking_sessions', 'sealed_token'),
                        ('onboarding_applications', 'id'),
                        ('onboarding_applications', 'client_token'),
                        ('onboarding_applications', 'sealed_code'),
                        ('onboarding_documents', 'application_id'),
                        ('onboarding_document_chunks', 'sealed_content'),
                        ('pix_disputes', 'details'),
                        ('users', 'password_hash')
        ) hidden (table_name, column_name) on table_name = relname and column_name = attname
     where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
       and relname in ('accounts', 'banking_sessions', 'onboarding_applications', 'onboarding_documents', 'onboarding_document_chunks', 'pix_disputes', 'users')
       and column_name is null
     group by c.oid
  loop
    execute format('revoke select on %s from "ponte_readonly"', shown.name);
    execute format('grant select (%s) on %s to "ponte_readonly"', shown.columns, shown.name);
  end loop;
end $$;

do $$
declare
  append_only regclass;
begin
  for append_only in
    select tgrelid::regclass from pg_trigger join pg_class c on c.oid = tgrelid
     where c.relnamespace = 'public'::regnamespace and tgname like '%\_append\_only'
  loop
    execute format('revoke update, delete on %s from "ponte_service"', append_only);
  end loop;
  if to_regclass('public.schema_migrations') is not null then
    revoke insert, update, delete on public.schema_migrations from "ponte_service";
  end if;
end $$;
commit;
