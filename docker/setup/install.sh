#!/usr/bin/env bash
# Build stage: installs what the programs are built from. Where docker/setup/apt exists, it holds the host's
# package sources and proxies (./dev docker puts it there); they stay in this stage.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

# shellcheck source=cmake/dev/common.sh
source cmake/dev/common.sh
# shellcheck source=cmake/dev/packages.sh
source cmake/dev/packages.sh

if [ -d docker/setup/apt ]; then
  if [ -n "$(ls docker/setup/apt/sources.list docker/setup/apt/sources.list.d 2>/dev/null)" ]; then
    rm -rf /etc/apt/sources.list /etc/apt/sources.list.d
  fi
  cp -rT docker/setup/apt /etc/apt
fi
need_packages programs
