#!/bin/sh
# Keeps the list of everybody's addresses. This program knows only its dry-run.
set -eu

folder=$(dirname "$0")/..
wanted=$(mktemp)
trap 'rm -f "$wanted"' EXIT

curl --silent --show-error --fail --header 'Content-Type: application/json' \
  --data '{"query": "{ people { email } }"}' "$GRAPHQL_SERVER" |
  jq --raw-output '.data.people[].email' | sort >"$wanted"

comm -23 "$wanted" "$folder/live/mailing-list.txt" | sed 's/^/would subscribe /'
comm -13 "$wanted" "$folder/live/mailing-list.txt" | sed 's/^/would unsubscribe /'
