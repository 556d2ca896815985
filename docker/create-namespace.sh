#!/bin/sh
# Creates the namespace and the library's search attributes. Safe to run again.
set -eu

# The CLI in this image has trouble with some container host names; an IPv4 address always works.
host=${TEMPORAL_ADDRESS%:*}
ip=$(getent ahosts "$host" | awk '/STREAM/ { print $1; exit }')
export TEMPORAL_ADDRESS="${ip:-$host}:${TEMPORAL_ADDRESS##*:}"

attempts=60
until temporal operator cluster health; do
  attempts=$((attempts - 1))
  if [ "$attempts" -eq 0 ]; then
    echo "The Temporal server at $TEMPORAL_ADDRESS did not become healthy" >&2
    exit 1
  fi
  sleep 2
done

temporal operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
  temporal operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$RETENTION"

# A namespace takes a moment to reach every part of the server.
attempts=30
until temporal operator search-attribute create --namespace "$TEMPORAL_NAMESPACE" \
  --name AbeyanceStatus --type Keyword --name AbeyanceWaitingFor --type KeywordList; do
  attempts=$((attempts - 1))
  [ "$attempts" -gt 0 ] || exit 1
  sleep 1
done
