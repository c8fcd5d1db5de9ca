# shellcheck shell=bash
# What all commands of ./dev share: messages, arguments, configuring and building a preset.

preset_names() { echo release debug asan tsan clang lint fuzz bench; }

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

# configure PRESET [cmake options]: installs what the preset needs, then configures build/PRESET.
# Quiet when nothing is wrong. Warnings are errors where CI=true or ASHLAR_WERROR=ON.
configure() {
  local preset=$1 log options=()
  shift
  check_preset "$preset"
  case $preset in
    clang | lint | fuzz) need_packages build clang ;;
    *) need_packages build ;;
  esac
  set_up_ccache
  if [ -n "${ASHLAR_WERROR:-}" ]; then
    options+=("-DASHLAR_WERROR=$ASHLAR_WERROR")
  elif [ "${CI:-}" = true ]; then
    options+=(-DASHLAR_WERROR=ON)
  fi
  mkdir -p "build/$preset"
  log=build/$preset/configure.log
  if ! cmake --preset "$preset" "${options[@]}" "$@" >"$log" 2>&1; then
    cat "$log" >&2
    say "cmake could not configure the preset $preset (the output is above and in $log)"
    exit 1
  fi
}

# build_targets PRESET [TARGET...]: everything when no target is named.
build_targets() {
  local preset=$1 targets=()
  shift
  [ $# -eq 0 ] || targets=(--target "$@")
  cmake --build "build/$preset" --parallel "$(job_count)" "${targets[@]}"
}

# The C++ sources of the project, tracked and new, one a line.
cpp_sources() {
  git ls-files --cached --others --exclude-standard -- '*.h' '*.cpp' | sort -u | while IFS= read -r file; do
    [ -f "$file" ] && printf '%s\n' "$file"
  done
}
