#!/bin/sh
# Sets the passwords of the roles of roles.sql. The image of PostgreSQL runs both at its first start.
set -eu

psql -v ON_ERROR_STOP=1 -U postgres -d "$POSTGRES_DB" \
  -v migrator="$(cat /run/secrets/migrator.password)" \
  -v service="$(cat /run/secrets/service.password)" <<'SQL'
alter role ponte_migrator password :'migrator';
alter role ponte_service password :'service';
SQL
