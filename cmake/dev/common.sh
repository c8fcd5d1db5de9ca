# shellcheck shell=bash
# What all commands of ./dev share: messages, arguments, configuring and building a preset.

preset_names() { echo release debug asan tsan clang lint lint-all fuzz bench windows; }

say() { printf '%s\n' "dev: $*" >&2; }

# Stops with one line and the exit code for wrong usage.
die() {
  say "$*"
  exit 2
}

have() { command -v "$1" >/dev/null 2>&1; }

# True when -h or --help stands among the arguments of a command (those after -- belong to a program).
asks_for_help() {
  local argument
  for argument in "$@"; do
    case $argument in
      -h | --help) return 0 ;;
      --) return 1 ;;
    esac
  done
  return 1
}

# need_value "$@": stops when an option that wants a value is the last argument.
need_value() {
  [ $# -ge 2 ] || die "$1 needs a value"
}

# seconds_of 90 | 90s | 5m | 1h: as a whole number of seconds.
seconds_of() {
  local text=$1 number unit
  number=${text%[smh]}
  unit=${text#"$number"}
  [[ $number =~ ^[0-9]{1,6}$ ]] || die "'$text' is no duration; write 30s, 5m or 1h"
  number=$((10#$number))
  case $unit in
    m) number=$((number * 60)) ;;
    h) number=$((number * 3600)) ;;
  esac
  printf '%s' "$number"
}

# number_of OPTION TEXT: a whole number, checked.
number_of() {
  [[ $2 =~ ^[0-9]{1,9}$ ]] || die "$1 wants a whole number, not '$2'"
  printf '%s' "$((10#$2))"
}

job_count() { nproc 2>/dev/null || echo 2; }

# Compiled once is compiled for every checkout of the project: paths inside it are made relative.
set_up_ccache() {
  export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root} CCACHE_NOHASHDIR=${CCACHE_NOHASHDIR:-1}
}

check_preset() {
  [[ " $(preset_names) " == *" $1 "* ]] || die "there is no preset '$1'; choose one of: $(preset_names)"
}

# leave_moved_build PRESET: cmake refuses a build folder that was configured in another place, as after moving or
# copying the checkout. What it holds is made again.
leave_moved_build() {
  local cache=build/$1/CMakeCache.txt source folder
  [ -f "$cache" ] || return 0
  source=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$cache")
  folder=$(sed -n 's/^CMAKE_CACHEFILE_DIR:INTERNAL=//p' "$cache")
  [[ $source -ef $PWD && $folder -ef build/$1 ]] && return
  say "build/$1 was made for ${source:-another place}: starting it afresh, as this checkout is in $PWD"
  rm -rf "build/$1"
}

# configure PRESET [cmake options]: installs what the preset needs, then configures build/PRESET.
# Quiet when nothing is wrong. Warnings are errors where CI=true or ASHLAR_WERROR=ON.
configure() {
  local preset=$1 log options=()
  shift
  check_preset "$preset"
  case $preset in
    clang | asan | tsan | lint | lint-all | fuzz) need_packages build clang ;;
    windows)
      need_packages build windows
      cmake/windows/libraries.sh
      ;;
    *) need_packages build ;;
  esac
  set_up_ccache
  if [ -n "${ASHLAR_WERROR:-}" ]; then
    options+=("-DASHLAR_WERROR=$ASHLAR_WERROR")
  elif [ "${CI:-}" = true ]; then
    options+=(-DASHLAR_WERROR=ON)
  fi
  leave_moved_build "$preset"
  mkdir -p "build/$preset"
  log=build/$preset/configure.log
  # shellcheck disable=SC2016  # the inner shell's own
  if ! alone_in "$preset" bash -c 'cmake "${@:2}" >"$1" 2>&1' _ "$log" --preset "$preset" "${options[@]}" "$@"; then
    cat "$log" >&2
    say "cmake could not configure the preset $preset (the output is above and in $log)"
    exit 1
  fi
}

# alone_in PRESET COMMAND...: while no other ./dev configures or builds in build/PRESET. Two at a time would leave
# objects behind that are older than what they are made of, or break each other's files.
alone_in() {
  local preset=$1 lock=build/.$1.lock status=0
  shift
  flock --nonblock --conflict-exit-code 75 "$lock" "$@" || status=$?
  [ "$status" -eq 75 ] || return "$status"
  say "another ./dev builds in build/$preset: waiting until it is done"
  flock "$lock" "$@"
}

# build_targets PRESET [TARGET...]: everything when no target is named.
build_targets() {
  local preset=$1 targets=()
  shift
  [ $# -eq 0 ] || targets=(--target "$@")
  alone_in "$preset" cmake --build "build/$preset" --parallel "$(job_count)" "${targets[@]}"
}

# The C++ sources of the project, tracked and new, one a line.
cpp_sources() {
  git ls-files --cached --others --exclude-standard -- '*.h' '*.cpp' | sort -u | while IFS= read -r file; do
    [ -f "$file" ] && printf '%s\n' "$file"
  done
}

# free_port [WISH]: the wish when both transports can have it (0: any free one), else from 7777 upwards.
free_port() {
  local port
  port=$(python3 - "$1" <<'PYTHON'
import socket, sys

def free(port):
    """The port when UDP and TCP are both free on it, else None; for 0 any that is."""
    with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) if socket.has_ipv6 else socket.socket() as tcp:
        try:
            family = tcp.family
            tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            tcp.bind(("::" if family == socket.AF_INET6 else "", port))
            with socket.socket(family, socket.SOCK_DGRAM) as udp:
                udp.bind(("::" if family == socket.AF_INET6 else "", tcp.getsockname()[1]))
                return tcp.getsockname()[1]
        except OSError:
            return None

wish = sys.argv[1]
wishes = range(7777, 7877) if wish == "" else [0] * 20 if wish == "0" else [int(wish)] if int(wish) < 65536 else []
print(next((port for port in map(free, wishes) if port), ""))
PYTHON
  )
  [ -n "$port" ] || die "port ${1:-7777 to 7876} is taken or cannot be had; choose another with --port (0 takes any)"
  [ -n "$1" ] || [ "$port" = 7777 ] || say "port 7777 is taken; using $port"
  printf '%s' "$port"
}
