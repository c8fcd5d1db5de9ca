# shellcheck shell=bash

help_fuzz() {
  cat <<'HELP'
usage: ./dev fuzz [TARGET...] [--for 60s | --runs N]

Builds the fuzz targets with clang 19 and feeds each of them, or only those named. Seeds come from
tests/fuzz/corpus/TARGET; input that breaks something is kept in build/fuzz/artifacts/TARGET.

  --for 60s   for this time (the default), with other inputs each time; what is found on the way is kept in
              build/fuzz/corpus/TARGET and is where the next time begins
  --runs N    the seeds, then N inputs made from them, the same ones each time: a check that gives the same
              answer tomorrow; fewer of them for a whole host, a whole client and ground that is sent. Built beside
              the tests of the preset asan, whose libraries these are
HELP
}

command_fuzz() {
  local limit=(for 60) preset=fuzz name names=() all=()
  mapfile -t all < <(fuzz_names)
  while [ $# -gt 0 ]; do
    case $1 in
      --for)
        need_value "$@"
        limit=(for "$(seconds_of "$2")")
        shift 2
        ;;
      --runs)
        need_value "$@"
        [[ $2 =~ ^[1-9][0-9]*$ ]] || die "--runs $2: give a number of inputs, such as 20000"
        limit=(runs "$2")
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
  [ "${limit[0]}" = for ] || preset=asan
  configure "$preset"
  build_targets "$preset" "${names[@]/#/fuzz_}"
  fuzz_all "${limit[@]}"
}

# fuzz_all LIMIT...: those in `names`, as many at a time as there are cores. All are tried, whichever breaks.
fuzz_all() {
  local name running=0 broken=0
  for name in "${names[@]}"; do
    if [ "$running" -ge "$(job_count)" ]; then
      wait -n || broken=$((broken + 1))
      running=$((running - 1))
    fi
    fuzz_one "$name" "$@" &
    running=$((running + 1))
  done
  while [ "$running" -gt 0 ]; do
    wait -n || broken=$((broken + 1))
    running=$((running - 1))
  done
  [ "$broken" -eq 0 ] || die "$broken of ${#names[@]} fuzz targets broke (above)"
}

fuzz_names() {
  local file
  for file in tests/fuzz/fuzz_*.cpp; do
    [ -f "$file" ] || continue
    file=${file##*/fuzz_}
    printf '%s\n' "${file%.cpp}"
  done
}

# fuzz_one NAME for SECONDS | NAME runs N: libFuzzer writes to the first folder and only reads the second.
# What libFuzzer learns from compared values holds addresses, which differ from run to run: not for counted runs.
fuzz_one() {
  local name=$1 kind=$2 count=$3 folders=() options=() log=build/fuzz/$1.log
  if [ "$kind" = for ]; then
    folders=("build/fuzz/corpus/$name")
    options=("-max_total_time=$count")
    say "fuzz_$name for $count s"
  else
    # Those that turn a whole end or a whole world try some hundreds a second, the others thousands.
    case $name in
      host) count=$(((count + 19) / 20)) ;;
      client | streamed_ground) count=$(((count + 9) / 10)) ;;
    esac
    folders=("build/fuzz/counted/$name")
    options=("-runs=$count" -seed=1 -use_cmp=0 -reload=0)
    rm -rf "${folders[0]}"
    say "fuzz_$name with its seeds and $count inputs"
  fi
  mkdir -p "${folders[0]}" "build/fuzz/artifacts/$name"
  [ ! -d "tests/fuzz/corpus/$name" ] || folders+=("tests/fuzz/corpus/$name")
  if ! "build/$preset/bin/fuzz_$name" "${options[@]}" -timeout=10 -rss_limit_mb=2048 \
    "-artifact_prefix=build/fuzz/artifacts/$name/" -print_final_stats=1 "${folders[@]}" >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    say "fuzz_$name broke; the input is in build/fuzz/artifacts/$name, the log in $log"
    return 1
  fi
  say "fuzz_$name: $(sed -n -E 's/^Done ([0-9]+) runs in ([0-9]+) second.*/\1 runs in \2 s/p; s/^stat::new_units_added: */new inputs: /p' "$log" |
    paste -sd ',')"
}
