# shellcheck shell=bash
# A server and simulated clients beside it, until interrupted or for a time. Nothing outlives the command: both
# programs are sessions of their own, so that Ctrl-C reaches this script alone, which ends them in order; should
# it be killed itself, the kernel tells them.

help_run() {
  cat <<'HELP'
usage: ./dev run [--for 30s] [--clients 32] [--monsters 200] [--transport udp|tcp] [--port 7777]
                 [--wad FILE] [--map MAP01] [--seed 1] [-- SERVER OPTION...]

Installs what is missing, builds the release preset, starts the server and simulated clients that play on
it, and shows the server's status until Ctrl-C, or for the time given. Ends with the clients' report and their
verdict as exit code: 0 when all joined and none was dropped or starved.

  --for       30s, 5m or 1h
  --clients   how many play; 0 starts the server alone
  --port      taken unless told otherwise: the first free one from 7777; 0 takes any that is free
  --wad       a Doom WAD; Freedoom's freedoom2.wad when it is installed, else the map that is built in
HELP
}

readonly run_dir=build/run
declare -A ended=() # exit codes by process id
server_pid='' beside_pid='' interrupted=no

command_run() {
  local for_s='' clients=32 monsters=200 transport=udp port='' wad='' map='' seed=1 extra=()
  while [ $# -gt 0 ]; do
    case $1 in
      --) shift && extra=("$@") && break ;;
      --for | --clients | --monsters | --transport | --port | --wad | --map | --seed) need_value "$@" ;;
      *) die "run has no option $1; see ./dev run --help" ;;
    esac
    case $1 in
      --for) for_s=$(seconds_of "$2") ;;
      --clients) clients=$(number_of "$1" "$2") ;;
      --monsters) monsters=$(number_of "$1" "$2") ;;
      --transport) transport=$2 ;;
      --port) port=$(number_of "$1" "$2") ;;
      --wad) wad=$2 ;;
      --map) map=$2 ;;
      --seed) seed=$(number_of "$1" "$2") ;;
    esac
    shift 2
  done
  [[ $transport == udp || $transport == tcp ]] || die "--transport is udp or tcp, not '$transport'"
  [ -z "$wad" ] || [ -f "$wad" ] || die "there is no WAD '$wad'"

  configure release
  build_targets release ashlar-server ashlar-sim
  [ -n "$wad" ] || wad=$(find_freedoom) # not before: Freedoom may have come with the packages
  [ -n "$wad" ] || say "freedoom2.wad is not to be found: the map that is built in takes its place"
  port=$(free_port "$port")

  local content=() server_options=()
  [ -z "$wad" ] || content=(--wad "$wad")
  server_options=(--port "$port" --seed "$seed" --monsters "$monsters" --monster-respawn-s 20 "${content[@]}")
  [ -z "$wad" ] || server_options+=(--map "${map:-MAP01}")
  [ -z "$map" ] || [ -n "$wad" ] || die "--map $map is in a WAD; name it with --wad"

  mkdir -p "$run_dir"
  rm -f "$run_dir/harness.log" "$run_dir/report.json"
  trap end_processes EXIT
  trap 'interrupted=yes' INT TERM HUP
  start_server "${server_options[@]}" "${extra[@]}"
  wait_until_ready "$port"
  if [ "$clients" = 0 ]; then
    spawn sleep "${for_s:-infinity}"
  else
    spawn_clients "$port" "$clients" "$transport" "$for_s" "${content[@]}"
  fi
  beside_pid=$!
  wait_for_either
  finish "${ended[$beside_pid]:-0}"
}

find_freedoom() {
  local folder
  for folder in "${DOOMWADDIR:-}" /usr/share/games/doom /usr/local/share/games/doom /usr/share/doom; do
    [ -z "$folder" ] || [ ! -f "$folder/freedoom2.wad" ] || {
      printf '%s' "$folder/freedoom2.wad"
      return
    }
  done
}

# spawn COMMAND...: in the background, away from the terminal's signals, and not to outlive this script.
spawn() {
  setsid env --default-signal=INT,QUIT setpriv --pdeathsig TERM "$@" </dev/null &
}

# On a terminal the server draws its status in place; elsewhere it writes a line every few seconds.
start_server() {
  local view=(--status-every 5)
  [ ! -t 1 ] || view=(--live)
  say "build/release/bin/ashlar-server $* ${view[*]}"
  spawn build/release/bin/ashlar-server "$@" "${view[@]}"
  server_pid=$!
}

wait_until_ready() {
  local tries
  for ((tries = 0; tries < 300; ++tries)); do
    kill -0 "$server_pid" 2>/dev/null || finish 0
    [ $interrupted = no ] || finish 0
    build/release/bin/ashlar-server --health "127.0.0.1:$1" >/dev/null 2>&1 && return
    sleep 0.2
  done
  say "the server does not answer on port $1 after a minute"
  exit 1
}

# spawn_clients PORT CLIENTS TRANSPORT SECONDS [--wad FILE]: without a time, for a day.
spawn_clients() {
  local port=$1 clients=$2 transport=$3 seconds=$4
  shift 4
  spawn build/release/bin/ashlar-sim load --server "127.0.0.1:$port" --clients "$clients" \
    --transport "$transport" --duration "${seconds:-86400}s" --progress 0 --report "$run_dir/report.json" "$@" \
    >"$run_dir/harness.log" 2>&1
}

# Until what runs beside the server has ended. It is told to end when this script is interrupted, and when the
# server ends by itself.
wait_for_either() {
  local told=no pids who status
  while [ -z "${ended[$beside_pid]:-}" ]; do
    pids=("$beside_pid")
    [ -n "${ended[$server_pid]:-}" ] || pids+=("$server_pid")
    who='' status=0
    wait -n -p who "${pids[@]}" || status=$?
    [ -z "${who:-}" ] || ended[$who]=$status # a signal leaves it unset
    if [ $told = no ] && [ -z "${ended[$beside_pid]:-}" ] &&
      { [ $interrupted = yes ] || [ -n "${ended[$server_pid]:-}" ]; }; then
      kill -INT "$beside_pid" 2>/dev/null || true
      told=yes
    fi
  done
}

# finish VERDICT: ends the server, shows the clients' report, and leaves with their verdict, or with 1 when the
# server did not end as it should.
finish() {
  local verdict=$1 tries
  if [ -z "${ended[$server_pid]:-}" ]; then
    kill -TERM "$server_pid" 2>/dev/null || true
    for ((tries = 0; tries < 150; ++tries)); do
      kill -0 "$server_pid" 2>/dev/null || break
      sleep 0.1 || true
    done
    kill -KILL "$server_pid" 2>/dev/null && say "the server did not end within 15 s of being asked"
    ended[$server_pid]=0
    wait "$server_pid" || ended[$server_pid]=$?
  fi
  [ ! -s "$run_dir/harness.log" ] || cat "$run_dir/harness.log"
  [ "$clients" != 0 ] || [ $interrupted = no ] || verdict=0 # it was the sleep that was interrupted
  [ "$verdict" = 0 ] || say "the simulated clients ended with exit code $verdict"
  if [ "${ended[$server_pid]}" != 0 ]; then
    say "the server ended with exit code ${ended[$server_pid]}"
    [ "$verdict" != 0 ] || verdict=1
  fi
  exit "$verdict"
}

# The last resort on every way out.
end_processes() {
  local pid
  for pid in $beside_pid $server_pid; do
    [ -n "${ended[$pid]:-}" ] || kill -KILL "$pid" 2>/dev/null || true
  done
}
