# shellcheck shell=bash

help_test() {
  cat <<'HELP'
usage: ./dev test [--preset release|debug|asan|tsan|clang|windows] [--folder NAME]... [--by-file] [--long] [FILTER]

Builds a preset (release unless told) and runs its tests; ctest's summary comes last.

  --folder   only tests/NAME: world, protocol, server, client_sim or integration; nothing else is built
  --by-file  an entry of ctest is a source of tests, not a case: with a sanitizer each start takes longer than most
             cases do
  --long     also the tests tagged [.slow], and those tagged [property] with 256 times as many cases (10^8 in
             all); takes minutes
  windows    what the client library is made of, under wine, and clients that play against a server of this system
  FILTER     a regular expression over test names, with --by-file those of sources: ./dev test 'world:.*door'
HELP
}

command_test() {
  local preset=release long=no by_file=OFF folders=() filter=()
  while [ $# -gt 0 ]; do
    case $1 in
      --preset)
        need_value "$@"
        preset=$2
        shift 2
        ;;
      --folder)
        need_value "$@"
        [ -d "tests/$2" ] || die "there is no folder tests/$2"
        folders+=("$2")
        shift 2
        ;;
      --by-file) by_file=ON && shift ;;
      --long) long=yes && shift ;;
      -*) die "test has no option $1; see ./dev test --help" ;;
      *) filter+=(-R "$1") && shift ;;
    esac
  done
  case $preset in
    release | debug | asan | tsan | clang) ;;
    windows)
      test_windows "${filter[@]}"
      return
      ;;
    *) die "the preset '$preset' has no tests; choose release, debug, asan, tsan, clang or windows" ;;
  esac
  configure "$preset" "-DASHLAR_TESTS_BY_FILE=$by_file"
  if [ ${#folders[@]} -gt 0 ]; then
    build_targets "$preset" "${folders[@]/#/tests_}"
    [ ${#filter[@]} -gt 0 ] || filter=(-R "^($(IFS='|' && echo "${folders[*]}")):")
  else
    build_targets "$preset"
  fi
  [ $long = no ] || run_slow_tests "$preset" "${folders[@]}"
  run_ctest "$preset" "${filter[@]}"
}

# test_windows [ctest options]: one program at a time, as each starts wine.
test_windows() {
  configure release
  build_targets release example_own_loop
  configure windows -DASHLAR_OWN_LOOP="$PWD/build/release/bin/example_own_loop"
  build_targets windows
  run_ctest windows --parallel 1 "$@"
}

# A report is an error whatever the environment says, and must not be cut short by symbolising.
set_up_sanitizers() {
  export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:strict_string_checks=1:check_initialization_order=1}
  export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
  export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1}
}

# run_ctest PRESET [ctest options]: one more test at a time than there are cores, as some mostly wait.
run_ctest() {
  local preset=$1
  shift
  set_up_sanitizers
  ctest --test-dir "build/$preset" --output-on-failure --no-tests=error \
    --parallel "$(($(job_count) + 1))" "$@"
}

# run_slow_tests PRESET [FOLDER...]: hidden from ctest by their dot, so that the executables are asked themselves.
run_slow_tests() {
  local preset=$1 binary count folder
  shift
  [ $# -gt 0 ] || set -- world protocol server client_sim integration
  set_up_sanitizers
  for folder in "$@"; do
    binary=build/$preset/bin/tests_$folder
    [ -x "$binary" ] || continue
    count=$(slow_test_count "$binary")
    [ "$count" -gt 0 ] || continue
    say "$count slow or lengthened tests of ${binary##*/}"
    ASHLAR_TEST_LONG=256 "$binary" '[.slow],[property]'
  done
}

# The last line of the list is "3 matching test cases" in Catch2 of both versions.
slow_test_count() {
  { "$1" --list-tests '[.slow],[property]' || true; } | sed -n 's/^\([0-9][0-9]*\) matching test case.*/\1/p' | tail -n 1 | grep . || echo 0
}
