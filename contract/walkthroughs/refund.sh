#!/usr/bin/env bash
# Pays a payee that gives half of it back, and waits until the refund is listed. Can be run again.
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

echo '# send'
payment='{"pix_key": "refund@ponte.test", "amount": 80}'
sent=$(call -H "Idempotency-Key: refund-$(date +%s)-$$" -d "$payment" "$api/pix/send")
id=$(echo "$sent" | field transaction_id)
call -H 'Prefer: wait=10' "$api/pix/$id" | field status
echo

echo '# the refund is a transaction of its own'
for _ in {1..40}; do
  # One transaction on each line.
  refund=$(call "$api/pix?type=PIX_REFUND_IN" | sed 's/},{"transaction_id"/}\n{"transaction_id"/g' |
    grep "\"original_transaction_id\":\"$id\"" || true)
  if [ -n "$refund" ]; then break; fi
  sleep 0.25
done
# Without a refund this fails.
echo "$refund" | grep -oE '"type":"PIX_REFUND_IN"'
echo "$refund" | grep -oE '"amount":[0-9.]+'
echo "$refund" | grep -oE '"return_id":"D[^"]+"'
