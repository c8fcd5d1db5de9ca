# shellcheck shell=bash
# Sourced by ./dev docker: finds a Docker engine to talk to, or starts one for as long as the command runs.
# An engine of our own keeps to itself: its own socket and storage, no firewall rules, no bridge of its own.

engine_dir='' engine_pid='' docker_command=(docker) compose_command=()

# docker by the command found, as root where the socket wants that.
run_docker() { "${docker_command[@]}" "$@"; }
run_compose() { "${compose_command[@]}" -f docker/compose.yaml "$@"; }

# find_engine: packages, then a running engine, then our own. Sets docker_command and compose_command.
find_engine() {
  have docker || need_packages docker-engine
  if docker info >/dev/null 2>&1; then
    :
  elif [ "$(id -u)" != 0 ] && have sudo && as_root docker info >/dev/null 2>&1; then
    docker_command=(sudo --preserve-env docker)
  else
    start_engine
  fi
  find_compose
}

# `docker compose` is version 2 of what docker-compose was in version 1; both read our file.
find_compose() {
  local sudo=()
  [ "${docker_command[0]}" = docker ] || sudo=(sudo --preserve-env)
  if docker compose version >/dev/null 2>&1; then
    compose_command=("${sudo[@]}" docker compose)
    return
  fi
  have docker-compose || need_packages docker-compose
  if docker compose version >/dev/null 2>&1; then
    compose_command=("${sudo[@]}" docker compose)
  else
    compose_command=("${sudo[@]}" docker-compose)
  fi
}

# Storage is kept under build/, so that the second run finds its base image and its package layer again.
start_engine() {
  local tries
  have dockerd || need_packages docker-engine
  [ "$(id -u)" = 0 ] || die "no Docker engine answers; start one, or run this as root, who may start one"
  engine_dir=$(mktemp -d)
  mkdir -p build/docker/engine
  echo '{}' >"$engine_dir/daemon.json"
  say "no Docker engine is running: starting one for the time of this command"
  setsid dockerd --config-file "$engine_dir/daemon.json" --host "unix://$engine_dir/docker.sock" \
    --data-root "$PWD/build/docker/engine" --exec-root "$engine_dir/exec" --pidfile "$engine_dir/docker.pid" \
    --bridge none --iptables=false --ip6tables=false --ip-forward=false --ip-masq=false \
    </dev/null >build/docker/engine.log 2>&1 &
  engine_pid=$!
  export DOCKER_HOST=unix://$engine_dir/docker.sock
  for ((tries = 0; tries < 300; ++tries)); do
    docker info >/dev/null 2>&1 && return
    kill -0 "$engine_pid" 2>/dev/null || break
    sleep 0.2
  done
  grep -E 'level=(error|fatal)|failed' build/docker/engine.log | tail -n 5 >&2
  say "the Docker engine does not start here (build/docker/engine.log tells why)"
  exit 1
}

# Ends what start_engine started, containers included, and waits until it is gone.
stop_engine() {
  local tries
  [ -n "$engine_pid" ] || return 0
  kill -TERM "$engine_pid" 2>/dev/null || true
  for ((tries = 0; tries < 300; ++tries)); do
    kill -0 "$engine_pid" 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL "$engine_pid" 2>/dev/null && say "the Docker engine had to be killed"
  wait "$engine_pid" 2>/dev/null || true
  engine_pid=''
  umount "$engine_dir"/exec/netns/* 2>/dev/null || true
  rm -rf "$engine_dir"
}
