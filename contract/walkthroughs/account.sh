#!/usr/bin/env bash
# Logs in, reads the balance, pays, repeats the payment, charges, reads the statement, logs out.
# Can be run again.
set -euo pipefail
api=${PONTE_URL:-http://127.0.0.1:3000}/api/v1
key=rent-$(date +%s)-$$

step() { printf '\n# %s\n' "$1"; }
show() {
  tr -d '\r' | grep -E '^(HTTP|Pix-Outcome|Idempotency-Replayed|[{])' |
    sed -E 's/"([^"]{20})[^"]{100,}"/"\1..."/g; s/,"/, "/g' | fold -s -w 100
}
call() {
  curl -sSi -H "Authorization: Bearer $token" -H 'Content-Type: application/json' "$@"
}
field() { sed -nE "s/.*\"$1\":\"([^\"]+)\".*/\\1/p"; }

step '1. log in'
login='{"email": "dev@ponte.test", "password": "ponte-dev-password"}'
response=$(curl -sSi --fail-with-body -H 'Content-Type: application/json' -d "$login" "$api/auth/login")
printf '%s\n' "$response" | show
token=$(printf '%s' "$response" | field access_token)

step '2. who is it'
call --fail-with-body "$api/accounts/me" | show

step '3. the balance'
call --fail-with-body "$api/accounts/balance" | show

step '4. send a Pix'
payment='{"pix_key": "bruno@example.com", "amount": 150.5, "description": "Rent"}'
response=$(call --fail-with-body -H "Idempotency-Key: $key" -d "$payment" "$api/pix/send")
printf '%s\n' "$response" | show
id=$(printf '%s' "$response" | field transaction_id)

step '5. wait until it has ended'
call --fail-with-body -H 'Prefer: wait=10' "$api/pix/$id" | show

step '6. send it again with the same key: nothing is paid twice'
call --fail-with-body -H "Idempotency-Key: $key" -d "$payment" "$api/pix/send" | show

step '7. charge by QR code'
charge='{"type": "dynamic", "amount": 89.9, "description": "Order 1042"}'
call --fail-with-body -H "Idempotency-Key: $key" -d "$charge" "$api/pix/charge" | show

step '8. the statement'
call --fail-with-body "$api/accounts/statement" | show

step '9. log out'
call --fail-with-body -X POST "$api/auth/logout" | show

step '10. the token is now invalid'
call "$api/accounts/balance" | show
