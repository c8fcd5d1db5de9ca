# shellcheck shell=bash

help_bench() {
  cat <<'HELP'
usage: ./dev bench [NAME] [arguments of the benchmark]

Builds with the preset bench and runs bench_NAME, or all of them. The arguments are Google Benchmark's:
  ./dev bench collide --benchmark_filter=Sweep --benchmark_repetitions=5
HELP
}

command_bench() {
  local name names=()
  configure bench
  mapfile -t names < <(bench_names)
  [ ${#names[@]} -gt 0 ] || die "tests/bench holds no bench_*.cpp"
  if [ $# -gt 0 ] && [[ $1 != -* ]]; then
    name=${1#bench_}
    shift
    [[ " ${names[*]} " == *" $name "* ]] || die "there is no benchmark '$name'; there are: ${names[*]}"
    names=("$name")
  fi
  build_targets bench "${names[@]/#/bench_}"
  for name in "${names[@]}"; do
    say "bench_$name"
    "build/bench/bin/bench_$name" "$@"
  done
}

bench_names() {
  local file
  for file in tests/bench/bench_*.cpp; do
    [ -f "$file" ] || continue
    file=${file##*/bench_}
    printf '%s\n' "${file%.cpp}"
  done
}
