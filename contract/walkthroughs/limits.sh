#!/usr/bin/env bash
# Shows the limits, sets a lower one, exceeds it, requests a higher one, and cancels that. It leaves
# the customer with a limit of 5 000 reais by day and by night.
set -euo pipefail
api=${PONTE_URL:-http://127.0.0.1:3000}/api/v1
key=limit-$(date +%s)-$$
field() { sed -nE "s/.*\"$1\":\"([^\"]+)\".*/\\1/p"; }
call() {
  curl -sS -H "Authorization: Bearer $token" -H 'Content-Type: application/json' "$@"
  echo
}

login='{"email": "dev@ponte.test", "password": "ponte-dev-password"}'
token=$(curl -sS --fail-with-body -H 'Content-Type: application/json' -d "$login" \
  "$api/auth/login" | field access_token)

echo '# the limits, and what is left of them'
call --fail-with-body "$api/pix/limits"
echo '# less applies at once'
call --fail-with-body -X PUT -d '{"day": 5000, "night": 5000}' "$api/pix/limits"
echo '# a send over the limit is refused'
payment='{"pix_key": "bruno@example.com", "amount": 5000.01}'
call -H "Idempotency-Key: $key" -d "$payment" "$api/pix/send"
echo '# more applies after 24 hours'
call --fail-with-body -X PUT -d '{"day": 9000}' "$api/pix/limits"
echo '# the amount that applies cancels it'
call --fail-with-body -X PUT -d '{"day": 5000}' "$api/pix/limits"
