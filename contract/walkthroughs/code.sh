#!/usr/bin/env bash
# Reads a dynamic Pix code, pays it, and shows that a second payment is refused. Can be run again.
set -euo pipefail
api=${PONTE_URL:-http://127.0.0.1:3000}/api/v1
key=code-$(date +%s)-$$
field() { sed -nE "s/.*\"$1\":\"([^\"]+)\".*/\\1/p"; }
call() {
  curl -sS -H "Authorization: Bearer $token" -H 'Content-Type: application/json' "$@"
}

log_in() {
  curl -sS --fail-with-body -H 'Content-Type: application/json' \
    -d "{\"email\": \"$1\", \"password\": \"$2\"}" "$api/auth/login" | field access_token
}
shop=$(log_in dev@ponte.test ponte-dev-password)
# A new customer pays.
PONTE_EMAIL=$key@example.com bash "$(dirname "${BASH_SOURCE[0]}")/onboarding.sh" > /dev/null
token=$(log_in "$key@example.com" 'correct horse')

echo '# the code of a shop; here, of the development user'
charge='{"type": "dynamic", "amount": 25, "description": "Order 1042"}'
code=$(token=$shop call --fail-with-body -H "Idempotency-Key: charge-$key" -d "$charge" \
  "$api/pix/charge" | field copy_paste)
echo "$code"

echo '# what it asks for, as the bank of the payee says'
read=$(call --fail-with-body -d "{\"copy_paste\": \"$code\"}" "$api/pix/decode")
echo "$read"

echo '# its payment, by this look-up'
payment="{\"copy_paste\": \"$code\", \"lookup_id\": \"$(echo "$read" | field lookup_id)\"}"
sent=$(call --fail-with-body -H "Idempotency-Key: $key" -d "$payment" "$api/pix/send")
echo "$sent"
call -H 'Prefer: wait=10' "$api/pix/$(echo "$sent" | field transaction_id)"
echo

echo '# a second payment of the same charge is refused'
call -H "Idempotency-Key: again-$key" -d "$payment" "$api/pix/send"
echo
