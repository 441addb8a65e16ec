#!/usr/bin/env bash
# Creates a Pix key, lists the keys, and deletes the new one. Can be run again.
set -euo pipefail
api=${PONTE_URL:-http://127.0.0.1:3000}/api/v1
field() { sed -nE "s/.*\"$1\":\"([^\"]+)\".*/\\1/p"; }
call() {
  curl -sS --fail-with-body -H "Authorization: Bearer $token" \
    -H 'Content-Type: application/json' "$@"
}

login='{"email": "dev@ponte.test", "password": "ponte-dev-password"}'
token=$(curl -sS --fail-with-body -H 'Content-Type: application/json' -d "$login" \
  "$api/auth/login" | field access_token)
key=walk-$(date +%s)-$$@example.com

echo '# create'
call -d "{\"key_type\": \"E_MAIL\", \"email\": \"$key\"}" "$api/pix/keys"
echo
echo '# list'
call "$api/pix/keys" | tr '{' '\n' | grep -c "$key"
echo '# delete'
call -X DELETE -d "{\"key\": \"$key\"}" "$api/pix/keys"
echo
