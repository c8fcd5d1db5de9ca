# shellcheck shell=bash

help_lint() {
  cat <<'HELP'
usage: ./dev lint [--all | --scripts | --figures] [FILE.cpp...]

clang-tidy 19 by .clang-tidy over the sources of the programs that differ from the branch main (or from the last commit
when main is checked out), or over the named files; before that shellcheck over the scripts, which way includes
point between rooms and between their folders (build/includes.svg shows it), and the bounds of --figures: functions of
at most 70 lines but tables, contracts of 95 in a hundred public declarations.

  --all      over all of them, many in one compilation, without the checks that take longest beside what they find:
             the analyser's (which follow paths through functions), what a name looks like, and others
  --scripts  shellcheck, includes and figures alone
  --figures  sizes of files and functions, asserts, contracts and tests by room, and whether they keep within bounds
HELP
}

command_lint() {
  local which=changed files=()
  while [ $# -gt 0 ]; do
    case $1 in
      --all) which=all && shift ;;
      --scripts) which=none && shift ;;
      --figures)
        python3 cmake/dev/figures.py .
        return
        ;;
      -*) die "lint has no option $1; see ./dev lint --help" ;;
      *)
        [ -f "$1" ] || die "there is no file '$1'"
        which=named
        files+=("$1")
        shift
        ;;
    esac
  done
  need_packages lint
  lint_scripts
  python3 tests/check_includes.py . build/includes.svg
  check_figures
  case $which in
    none) return ;;
    all)
      lint_all
      return
      ;;
    changed) mapfile -t files < <(changed_sources) ;;
  esac
  if [ ${#files[@]} -eq 0 ]; then
    say "no C++ source has changed"
  else
    lint_sources "${files[@]}"
  fi
}

# The table is for --figures; here only what is out of bounds.
check_figures() {
  local figures
  figures=$(python3 cmake/dev/figures.py .) || {
    printf '%s\n' "$figures" >&2
    return 1
  }
}

lint_scripts() {
  local scripts=()
  mapfile -t scripts < <(git ls-files --cached --others --exclude-standard -- dev .ci/run '*.sh' | sort -u)
  shellcheck -x "${scripts[@]}"
  say "shellcheck has no complaint about ${#scripts[@]} scripts"
}

# What --all does without. Each of them takes from one to five hundredths of the time, the first half of it.
readonly slow_checks=('clang-analyzer-*' performance-unnecessary-value-param bugprone-suspicious-include
  cppcoreguidelines-virtual-class-destructor bugprone-standalone-empty bugprone-stringview-nullptr
  bugprone-reserved-identifier bugprone-suspicious-string-compare bugprone-suspicious-semicolon
  bugprone-multiple-statement-macro bugprone-not-null-terminated-result
  misc-unused-using-decls misc-confusable-identifiers misc-misleading-identifier misc-coroutine-hostile-raii
  misc-non-copyable-objects modernize-redundant-void-arg modernize-use-nullptr readability-redundant-declaration)

# A preset of its own: flags that clang-tidy knows, and no precompiled headers, which would have to be built
# first. Headers generated from the schemas have to exist.
lint_sources() {
  configure lint
  build_targets lint ashlar_schemas >/dev/null
  say "clang-tidy over $# files"
  tidy lint "$@"
}

# Of many sources that are compiled as one the standard library is read once, which is most of the work: some minutes
# of processor time in all, where file by file it is more than two hours. The host once, not as the simulation has it.
lint_all() {
  local units=()
  configure lint-all
  build_targets lint-all ashlar_schemas >/dev/null
  mapfile -t units < <(sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' build/lint-all/compile_commands.json |
    grep -Ev '/tests/|/ashlar_host_with_defects\.dir/')
  [ ${#units[@]} -gt 0 ] || die "build/lint-all/compile_commands.json names no sources: remove build/lint-all"
  say "clang-tidy over $(tidied_sources | wc -l) files in ${#units[@]} compilations"
  tidy lint-all --checks="$(printf -- '-%s,' "${slow_checks[@]}")" \
    --header-filter='/(world|protocol|server|client_sim)/.*\.(h|cpp)$' "${units[@]}"
}

# tidy PRESET [option of clang-tidy]... FILE...
tidy() {
  local preset=$1 options=()
  shift
  while [[ $1 == --* ]]; do
    options+=("$1")
    shift
  done
  printf '%s\0' "$@" |
    xargs -0 -n 1 -P "$(job_count)" \
      clang-tidy-19 -p "build/$preset" --quiet --warnings-as-errors='*' "${options[@]}" 2>/dev/null || {
    say "clang-tidy has findings (above); a check that is wrong here is silenced where it is, with the reason"
    return 1
  }
}

# Not the tests: the analyser spends minutes on what Catch2's macros expand to.
tidied_sources() { cpp_sources | grep '\.cpp$' | grep -v '^tests/'; }

# Sources of this branch that main does not have, those in the working tree included.
changed_sources() {
  local base=HEAD changed
  if git rev-parse -q --verify main >/dev/null && [ "$(git rev-parse main)" != "$(git rev-parse HEAD)" ]; then
    base=$(git merge-base main HEAD)
  fi
  changed=$(
    git diff --name-only --diff-filter=d "$base" -- '*.cpp'
    git ls-files --others --exclude-standard -- '*.cpp'
  )
  tidied_sources | grep -Fx "$changed" || true
}
