#!/usr/bin/env bash
# Opens an account: registration, address, documents, validation, decision, login, first payment.
# Each run is another person, so it can be run again; PONTE_EMAIL is the person's e-mail.
set -euo pipefail
api=${PONTE_URL:-http://127.0.0.1:3000}/api/v1
email=${PONTE_EMAIL:-carla-$(date +%s)-$$@example.com}

# A CPF that is not taken: nine digits that differ from run to run, and the two that check them.
cpf=$(printf '%09d' $(((RANDOM * 32768 + RANDOM) % 1000000000)))
for weight in 10 11; do
  sum=0
  for ((place = 0; place < weight - 1; place += 1)); do
    sum=$((sum + ${cpf:place:1} * (weight - place)))
  done
  cpf+=$((sum * 10 % 11 % 10))
done

folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
for kind in rg residence selfie; do
  printf '%%PDF-1.7\n%% the %s of Carla\nstartxref\n0\n%%%%EOF\n' "$kind" > "$folder/$kind.pdf"
done

step() { printf '\n# %s\n' "$1"; }
field() { { cat; echo; } | sed -nE "s/.*\"$1\":\"([^\"]+)\".*/\\1/p"; }
done_of() { tr '{' '\n' | sed -nE 's/^"name":"([a-z_]+)","status":"done".*/\1/p' | paste -sd ' '; }
post() { curl -sS --fail-with-body -H 'Content-Type: application/json' -d "$2" "$api$1"; }

step '1. register'
person='{"name": "Carla Dias", "email": "'$email'", "document": "'$cpf'",
  "phone": "(11) 9'${cpf:0:4}-${cpf:4:3}'5", "password": "correct horse",
  "password_confirmation": "correct horse"}'
id=$(post /onboarding/pf "$person" | field id)
test -n "$id" && echo 'the application has an id, which is a secret'

step '2. the address, which the CEP helps with'
curl -sS --fail-with-body "$api/onboarding/cep/01310-100"
echo
address='{"cep": "01310-100", "logradouro": "Avenida Paulista", "numero": "1000",
  "bairro": "Bela Vista", "cidade": "São Paulo", "estado": "SP"}'
post "/onboarding/$id/address" "$address" | done_of

step '3. the documents: 1 is the RG, 5 a proof of residence, 6 a selfie'
upload() {
  curl -sS --fail-with-body -F "tipo_documento=$1" \
    -F "arquivo=@$folder/$2.pdf" "$api/onboarding/$id/documents"
}
upload 1 rg > /dev/null
upload 5 residence > /dev/null
upload 6 selfie | done_of

step '4. the proposal, the validation and the proof of life'
post "/onboarding/$id/proposal" '{}' > /dev/null
post "/onboarding/$id/electronic-validation" '{}' > /dev/null
post "/onboarding/$id/electronic-validation/confirm" '{"codigo": "ABC123"}' > /dev/null
curl -sS --fail-with-body -X POST "$api/onboarding/$id/prova-vida" | done_of

step '5. the decision'
curl -sS --fail-with-body "$api/onboarding/$id/kyc" | tee "$folder/decision" | done_of
field kyc_status < "$folder/decision"

step '6. the new customer logs in'
login='{"email": "'$email'", "password": "correct horse"}'
token=$(post /auth/login "$login" | field access_token)
curl -sS --fail-with-body -H "Authorization: Bearer $token" "$api/accounts/me" > "$folder/me"
# The user's name comes first; the account's bank has one as well.
grep -oE '"name":"[^"]+"' "$folder/me" | head -n 1 | field name
field agency < "$folder/me"

step '7. and pays'
pay() {
  curl -sS --fail-with-body -H "Authorization: Bearer $token" \
    -H 'Content-Type: application/json' "$@"
}
payment='{"pix_key": "bruno@example.com", "amount": 25}'
sent=$(pay -H "Idempotency-Key: first-$id" -d "$payment" "$api/pix/send")
transaction=$(echo "$sent" | field transaction_id)
pay -H 'Prefer: wait=10' "$api/pix/$transaction" | field status
