#!/usr/bin/env bash
# Shows the payee before a payment: of a Pix key, and of a Pix code. Pays both. Can be run again.
set -euo pipefail
api=${PONTE_URL:-http://127.0.0.1:3000}/api/v1
key=payee-$(date +%s)-$$
field() { sed -nE "s/.*\"$1\":\"([^\"]+)\".*/\\1/p"; }
call() {
  curl -sS --fail-with-body -H "Authorization: Bearer $token" \
    -H 'Content-Type: application/json' "$@"
}

log_in() {
  curl -sS --fail-with-body -H 'Content-Type: application/json' \
    -d "{\"email\": \"$1\", \"password\": \"$2\"}" "$api/auth/login" | field access_token
}
shop=$(log_in dev@ponte.test ponte-dev-password)
# A new customer pays.
PONTE_EMAIL=$key@example.com bash "$(dirname "${BASH_SOURCE[0]}")/onboarding.sh" > /dev/null
token=$(log_in "$key@example.com" 'correct horse')

echo '# who has a Pix key, and a payment by this look-up'
found=$(call -d '{"pix_key": "bruno@example.com"}' "$api/pix/lookup")
echo "$found"
payment="{\"pix_key\": \"bruno@example.com\", \"amount\": 15,
  \"lookup_id\": \"$(echo "$found" | field lookup_id)\"}"
call -H "Idempotency-Key: key-$key" -d "$payment" "$api/pix/send" | field status
echo

echo '# what a Pix code asks for, and its payment'
charge='{"type": "static", "amount": 25, "key": "dev@ponte.test"}'
code=$(token=$shop call -H "Idempotency-Key: static-$key" -d "$charge" "$api/pix/charge" |
  field copy_paste)
call -d "{\"copy_paste\": \"$code\"}" "$api/pix/decode"
echo
call -H "Idempotency-Key: code-$key" -d "{\"copy_paste\": \"$code\"}" "$api/pix/send" |
  field status
echo
