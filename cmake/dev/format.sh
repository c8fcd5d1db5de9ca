# shellcheck shell=bash

help_format() {
  cat <<'HELP'
usage: ./dev format [--check] [FILE...]

Lays out all C++ sources by .clang-format (clang-format 19), or only the named ones.

  --check   changes nothing; fails when a file would change, and names it
HELP
}

command_format() {
  local check=no files=()
  while [ $# -gt 0 ]; do
    case $1 in
      --check) check=yes && shift ;;
      -*) die "format has no option $1; see ./dev format --help" ;;
      *)
        [ -f "$1" ] || die "there is no file '$1'"
        files+=("$1")
        shift
        ;;
    esac
  done
  need_packages format
  [ ${#files[@]} -gt 0 ] || mapfile -t files < <(cpp_sources)
  if [ $check = yes ]; then
    check_format "${files[@]}"
  else
    clang-format-19 -i -- "${files[@]}"
  fi
}

# Names each file that would change once, with the first line that would.
check_format() {
  local found
  if found=$(clang-format-19 --dry-run -Werror -- "$@" 2>&1); then
    say "$# files are laid out as .clang-format says"
    return
  fi
  awk -F: '/: error: / && !seen[$1]++ { print $1 ":" $2 ": clang-format would change this" }' <<<"$found" >&2
  say "run ./dev format, then commit what changed"
  return 1
}
