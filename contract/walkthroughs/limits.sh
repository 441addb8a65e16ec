#!/usr/bin/env bash
# Shows the limits, sets a lower one, exceeds it, requests a higher one, and cancels that. The customer
# is a new one, whom onboarding.sh makes: a raise would take 24 hours.
set -euo pipefail
api=${PONTE_URL:-http://127.0.0.1:3000}/api/v1
key=limit-$(date +%s)-$$
field() { sed -nE "s/.*\"$1\":\"([^\"]+)\".*/\\1/p"; }
call() {
  curl -sS -H "Authorization: Bearer $token" -H 'Content-Type: application/json' "$@"
  echo
}
# Each change needs the password.
set_limits() {
  call --fail-with-body -X PUT -d '{"password": "correct horse", '"$1"'}' "$api/pix/limits"
}

email=limits-$(date +%s)-$$@example.com
PONTE_EMAIL=$email bash "$(dirname "${BASH_SOURCE[0]}")/onboarding.sh" > /dev/null
login='{"email": "'$email'", "password": "correct horse"}'
token=$(curl -sS --fail-with-body -H 'Content-Type: application/json' -d "$login" \
  "$api/auth/login" | field access_token)

echo '# the limits, and what is left of them'
call --fail-with-body "$api/pix/limits"
echo '# less applies at once'
set_limits '"day": 5000, "night": 5000'
echo '# a send over the limit is refused'
payment='{"pix_key": "bruno@example.com", "amount": 5000.01}'
call -H "Idempotency-Key: $key" -d "$payment" "$api/pix/send"
echo '# more applies after 24 hours'
set_limits '"day": 9000'
echo '# the amount that applies cancels it'
set_limits '"day": 5000'
