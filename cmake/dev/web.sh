# shellcheck shell=bash

help_web() {
  cat <<'HELP'
usage: ./dev web [test|build] [FILTER]

The client in TypeScript, client_sim/web. Installs node, npm and the packages of its lock file where they are missing.

  build    makes generated/ of the schemas and dist/ of the sources
  test     (what it does unless told) also builds the release server and runs the client's tests, most against it
  FILTER   a regular expression over test names: ./dev web test 'live:.*TCP'
HELP
}

readonly web_folder=client_sim/web node_version_min=18

command_web() {
  local what=${1:-test}
  [ $# -eq 0 ] || shift
  [ $# -le 1 ] || die "web $what takes one filter; see ./dev web --help"
  case $what in
    build)
      need_packages build
      build_web
      ;;
    test)
      configure release
      build_targets release ashlar-server
      build_web
      test_web "$@"
      ;;
    *) die "web has no '$what'; see ./dev web --help" ;;
  esac
}

# Node from elsewhere than Debian brings its own npm, beside which Debian's cannot be installed.
need_node() {
  if ! have node || ! have npm; then need_packages node; fi
  local version
  version=$(node --version)
  version=${version#v}
  [ "${version%%.*}" -ge $node_version_min ] || die "node $version is too old; $node_version_min or later is needed"
}

build_web() {
  need_node
  need_node_modules
  (cd "$web_folder" && npm run --silent build)
  say "built $web_folder/dist"
}

# What npm installed is kept until the lock file changes. Quiet when nothing is wrong.
need_node_modules() {
  local log=build/web-install.log installed=$web_folder/node_modules/.package-lock.json
  [ "$installed" -nt "$web_folder/package-lock.json" ] && return
  mkdir -p build
  (cd "$web_folder" && npm ci --no-audit --no-fund) >"$log" 2>&1 || {
    cat "$log" >&2
    die "npm could not install the packages of $web_folder (the output is above and in $log)"
  }
  touch "$installed"
}

# test_web [FILTER]
test_web() {
  local options=() server=$PWD/build/release/bin/ashlar-server
  [ $# -eq 0 ] || options=(--test-name-pattern "$1")
  (cd "$web_folder" && ASHLAR_SERVER=$server node "${options[@]}" --test dist/test/*.test.js)
}
