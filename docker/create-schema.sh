#!/bin/sh
# Creates and upgrades Temporal's two databases. Safe to run again: each step skips what is there.
# temporal-sql-tool reads SQL_PLUGIN, SQL_HOST, SQL_PORT, SQL_USER and SQL_PASSWORD.
set -eu

schema=/etc/temporal/schema/postgresql/v12

set_up() {
  temporal-sql-tool --database "$1" create
  temporal-sql-tool --database "$1" setup-schema -v 0.0
  temporal-sql-tool --database "$1" update-schema -d "$schema/$2/versioned"
}

set_up temporal temporal
set_up temporal_visibility visibility
