# shellcheck shell=bash
# Packages: what is needed for what, what is missing, and how to get it. Debian 12 and 13 use the same names.

packages_of() {
  case $1 in
    # What the two programs are built from, and no more: the image is made with these.
    programs)
      echo cmake ninja-build g++ libasio-dev libflatbuffers-dev flatbuffers-compiler flatbuffers-compiler-dev \
        libspdlog-dev libsodium-dev libzstd-dev libsqlite3-dev libcli11-dev libtomlplusplus-dev libtinyobjloader-dev \
        libpng-dev
      ;;
    build) echo "$(packages_of programs)" ccache python3 catch2 librapidcheck-dev libbenchmark-dev freedoom ;;
    clang) echo clang-19 lld-19 libclang-rt-19-dev llvm-19 ;;
    format) echo clang-format-19 git ;;
    lint) echo clang-tidy-19 shellcheck ;;
    # And what its libraries are built with from their sources.
    windows) echo g++-mingw-w64-x86-64-posix wine64 dpkg-dev autoconf automake libtool ;;
    node) echo nodejs npm ;;
    docker-engine) echo docker.io ;;
    docker-compose) echo docker-compose ;;
    base-image) echo debootstrap ;;
    *) die "no package list is called '$1'" ;;
  esac
}

# The programs to look for where there are no Debian packages to ask about.
programs_of() {
  case $1 in
    programs | build) echo cmake ninja c++ python3 flatc ;;
    clang) echo clang++-19 ;;
    format) echo clang-format-19 git ;;
    lint) echo clang-tidy-19 shellcheck ;;
    windows) echo x86_64-w64-mingw32-g++-posix wine64 autoreconf dpkg-source apt-get ;;
    node) echo node npm ;;
    docker-engine) echo docker dockerd ;;
    docker-compose) echo docker-compose ;;
    base-image) echo debootstrap ;;
  esac
}

# missing_packages NAME...: those that are not installed. One question for all of them (about 10 ms).
missing_packages() {
  local installed name
  installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' "$@" 2>/dev/null) || true
  for name in "$@"; do
    grep -qx "$name installed" <<<"$installed" || printf '%s\n' "$name"
  done
}

# need_packages LIST...: makes sure that the named lists are there, installing what is missing.
need_packages() {
  local list wanted=() missing
  if ! have dpkg-query || ! have apt-get; then
    need_programs "$@"
    return
  fi
  for list in "$@"; do
    # shellcheck disable=SC2207  # package names hold no spaces
    wanted+=($(packages_of "$list"))
  done
  mapfile -t missing < <(missing_packages "${wanted[@]}")
  [ ${#missing[@]} -eq 0 ] || install_packages "${missing[@]}"
}

# Without apt nothing is installed: say what is needed, once and completely.
need_programs() {
  local list program missing=()
  for list in "$@"; do
    for program in $(programs_of "$list"); do
      have "$program" || missing+=("$program")
    done
  done
  [ ${#missing[@]} -eq 0 ] && return
  say "this system has no apt, and these programs are missing: ${missing[*]}"
  say "install them and the libraries below by your system's own means, then run this again."
  say "Debian calls what is needed:"
  for list in "$@"; do
    packages_of "$list" | fmt -w 90 | sed 's/^/  /' >&2
  done
  exit 2
}

# as_root COMMAND...: directly for root, else through sudo, which may ask for a password on a terminal.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif ! have sudo; then
    say "this needs root, and there is no sudo. As root, run:"
    say "  $*"
    exit 2
  elif [ -t 0 ]; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

# Never asks a question of its own, waits for another apt to finish (of ./dev itself first: apt waits for some of
# its locks only), and shows apt's output only when it fails.
install_packages() {
  local log lock
  if [ "$(id -u)" != 0 ] && ! have sudo; then
    say "packages are missing, and there is no sudo to install them with. As root, run:"
    say "  apt-get update && apt-get install --no-install-recommends $*"
    exit 2
  fi
  say "installing what is missing: $*"
  log=$(mktemp)
  mkdir -p build
  exec {lock}>build/.packages.lock
  flock "$lock"
  if as_root env DEBIAN_FRONTEND=noninteractive \
    sh -c 'apt-get -o DPkg::Lock::Timeout=300 update &&
           apt-get -o DPkg::Lock::Timeout=300 install -y --no-install-recommends "$@"' \
    apt-get "$@" </dev/null >"$log" 2>&1; then
    rm -f "$log"
    exec {lock}>&-
    return
  fi
  cat "$log" >&2
  rm -f "$log"
  say "apt could not install: $*"
  exit 2
}
