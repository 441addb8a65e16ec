#!/usr/bin/env bash
# Pays, disputes the payment, and waits until the bank has decided and the money is back. Can be run
# again.
set -euo pipefail
api=${PONTE_URL:-http://127.0.0.1:3000}/api/v1
field() { sed -nE "s/.*\"$1\":\"?([^\",}]+).*/\\1/p"; }
call() {
  curl -sS --fail-with-body -H "Authorization: Bearer $token" \
    -H 'Content-Type: application/json' "$@"
}

login='{"email": "dev@ponte.test", "password": "ponte-dev-password"}'
token=$(curl -sS --fail-with-body -H 'Content-Type: application/json' -d "$login" \
  "$api/auth/login" | field access_token)

echo '# send'
payment='{"pix_key": "dispute-partial@ponte.test", "amount": 60}'
sent=$(call -H "Idempotency-Key: dispute-$(date +%s)-$$" -d "$payment" "$api/pix/send")
id=$(echo "$sent" | field transaction_id)
for _ in {1..3}; do
  status=$(call -H 'Prefer: wait=10' "$api/pix/$id" | field status)
  if [ "$status" = COMPLETED ]; then break; fi
done
echo "$status"

echo '# dispute it'
dispute='{"situation": "SCAM", "details": "O vendedor não existe."}'
call -d "$dispute" "$api/pix/$id/dispute" | field status
echo

echo '# the bank decides, and half of the money comes back'
for _ in {1..40}; do
  shown=$(call "$api/pix/$id/dispute")
  if [ -n "$(echo "$shown" | field refunded_amount)" ]; then break; fi
  sleep 0.25
done
echo "$(echo "$shown" | field status), $(echo "$shown" | field refunded_amount)"
