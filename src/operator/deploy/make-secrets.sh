#!/bin/sh
# Writes the secrets of compose.yaml into a new folder: sh make-secrets.sh "$HOME/ponte-secrets"
#
# Only the folder's owner can enter it. The files in it can be read by any user, because a container
# reads them as a user of its own.
set -eu

folder=${1:?names a new folder}
mkdir -m 700 "$folder"
cd "$folder"
umask 022

for role in postgres migrator service; do
  openssl rand -hex 32 >"$role.password"
done
for role in migrator service; do
  echo "postgres://ponte_$role:$(cat "$role.password")@postgres:5432/ponte" >"$role.url"
done
openssl rand -hex 32 >webhook.secret
openssl rand -base64 32 >encryption.key
openssl genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:3072 -out jwt-private.pem
openssl pkey -in jwt-private.pem -pubout -out jwt-public.pem
chmod 644 ./*
