#!/usr/bin/env bash
# Logs in, pays, and waits for the result. Can be run again.
set -euo pipefail
api=${PONTE_URL:-http://127.0.0.1:3000}/api/v1
field() { sed -nE "s/.*\"$1\":\"([^\"]+)\".*/\\1/p"; }

login='{"email": "dev@ponte.test", "password": "ponte-dev-password"}'
token=$(curl -sS --fail-with-body -H 'Content-Type: application/json' -d "$login" \
  "$api/auth/login" | field access_token)
call() {
  curl -sS --fail-with-body -H "Authorization: Bearer $token" \
    -H 'Content-Type: application/json' "$@"
  echo
}

payment='{"pix_key": "bruno@example.com", "amount": 150.5, "description": "Rent"}'
sent=$(call -H "Idempotency-Key: rent-$(date +%s)-$$" -d "$payment" "$api/pix/send")
echo "$sent"
call -H 'Prefer: wait=10' "$api/pix/$(echo "$sent" | field transaction_id)"
