#!/usr/bin/env bash
# Receives a Pix from the simulated bank, and returns a part of it. Can be run again.
set -euo pipefail
url=${PONTE_URL:-http://127.0.0.1:3000}
api=$url/api/v1
field() { sed -nE "s/.*\"$1\":\"([^\"]+)\".*/\\1/p"; }
call() {
  curl -sS --fail-with-body -H "Authorization: Bearer $token" \
    -H 'Content-Type: application/json' "$@"
}

login='{"email": "dev@ponte.test", "password": "ponte-dev-password"}'
token=$(curl -sS --fail-with-body -H 'Content-Type: application/json' -d "$login" \
  "$api/auth/login" | field access_token)
newest() { call "$api/pix?type=PIX_RECEIVED&limit=1" | field transaction_id; }

echo '# somebody pays 40 into the account'
before=$(newest)
curl -sS --fail-with-body -X POST -H 'x-ponte-bank: 1' \
  "$url/dev/bank/receive?email=dev@ponte.test&amount=40"
echo
for _ in {1..40}; do
  received=$(newest)
  if [ "$received" != "$before" ]; then break; fi
  sleep 0.25
done

echo '# 15 of it go back'
order='{"amount": 15, "reason": "WRONG_AMOUNT"}'
made=$(call -H "Idempotency-Key: return-$(date +%s)-$$" -d "$order" "$api/pix/$received/refund")
echo "$made"
call -H 'Prefer: wait=10' "$api/pix/$(echo "$made" | field transaction_id)"
echo

echo '# 30 more would exceed what was received'
order='{"amount": 30, "reason": "OTHER"}'
curl -sS -H "Authorization: Bearer $token" -H 'Content-Type: application/json' \
  -H "Idempotency-Key: more-$(date +%s)-$$" -d "$order" "$api/pix/$received/refund"
echo
