# shellcheck shell=bash

help_fuzz() {
  cat <<'HELP'
usage: ./dev fuzz [TARGET...] [--for 60s]

Builds the fuzz targets with clang 19 and feeds each of them for a time (60 s unless told), or only those
named. Seeds come from tests/fuzz/corpus/TARGET; what is found on the way is kept in build/fuzz/corpus/TARGET,
and input that breaks something in build/fuzz/artifacts/TARGET.
HELP
}

command_fuzz() {
  local seconds=60 name names=() all=()
  mapfile -t all < <(fuzz_names)
  while [ $# -gt 0 ]; do
    case $1 in
      --for)
        need_value "$@"
        seconds=$(seconds_of "$2")
        shift 2
        ;;
      -*) die "fuzz has no option $1; see ./dev fuzz --help" ;;
      *)
        name=${1#fuzz_}
        [[ " ${all[*]} " == *" $name "* ]] || die "there is no fuzz target '$name'; there are: ${all[*]}"
        names+=("$name")
        shift
        ;;
    esac
  done
  [ ${#all[@]} -gt 0 ] || die "tests/fuzz holds no fuzz_*.cpp"
  [ ${#names[@]} -gt 0 ] || names=("${all[@]}")
  configure fuzz
  build_targets fuzz "${names[@]/#/fuzz_}"
  for name in "${names[@]}"; do
    fuzz_one "$name" "$seconds"
  done
}

fuzz_names() {
  local file
  for file in tests/fuzz/fuzz_*.cpp; do
    [ -f "$file" ] || continue
    file=${file##*/fuzz_}
    printf '%s\n' "${file%.cpp}"
  done
}

# fuzz_one NAME SECONDS: libFuzzer writes to the first folder and only reads the second.
fuzz_one() {
  local name=$1 seconds=$2 folders=() log
  folders=("build/fuzz/corpus/$name")
  mkdir -p "${folders[0]}" "build/fuzz/artifacts/$name"
  [ ! -d "tests/fuzz/corpus/$name" ] || folders+=("tests/fuzz/corpus/$name")
  log=build/fuzz/$name.log
  say "fuzz_$name for $seconds s"
  if ! "build/fuzz/bin/fuzz_$name" "-max_total_time=$seconds" -timeout=10 -rss_limit_mb=2048 \
    "-artifact_prefix=build/fuzz/artifacts/$name/" -print_final_stats=1 "${folders[@]}" >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    say "fuzz_$name broke; the input is in build/fuzz/artifacts/$name, the log in $log"
    return 1
  fi
  grep -E '^(Done|stat::number_of_executed_units|stat::new_units_added)' "$log" || tail -n 3 "$log"
}
