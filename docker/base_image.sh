# shellcheck shell=bash
# Sourced by ./dev docker: the Debian that the image is built on, and what the host knows about package sources.

# The host's release where it is one that we build on, else Debian 12.
base_suite() {
  local suite
  suite=$(. /etc/os-release && [ "${ID:-}" = debian ] && echo "${VERSION_CODENAME:-}") || true
  case $suite in
    bookworm | trixie) echo "$suite" ;;
    *) echo bookworm ;;
  esac
}

# ensure_base_image SUITE: prints the name of an image to build on. One that is there, one from a registry, or
# one made here with debootstrap.
ensure_base_image() {
  local suite=$1 name
  for name in "debian:$suite-slim" "ashlar-base:$suite"; do
    if run_docker image inspect "$name" >/dev/null 2>&1; then
      echo "$name"
      return
    fi
  done
  # shellcheck disable=SC2154  # engine.sh sets it
  if timeout 120 "${docker_command[@]}" pull --quiet "debian:$suite-slim" >/dev/null 2>&1; then
    echo "debian:$suite-slim"
    return
  fi
  say "no registry gives debian:$suite-slim; making a base image with debootstrap"
  make_base_image "$suite" "ashlar-base:$suite" >&2
  echo "ashlar-base:$suite"
}

make_base_image() {
  local suite=$1 name=$2 tree log=build/docker/debootstrap.log mirror
  need_packages base-image
  mirror=$(host_mirror "$suite")
  tree=$(mktemp -d)
  if ! http_proxy=${http_proxy:-$(apt_setting Acquire::http::Proxy)} \
    as_root debootstrap --variant=minbase --include=ca-certificates "$suite" "$tree" ${mirror:+"$mirror"} \
    >"$log" 2>&1; then
    tail -n 5 "$log" >&2
    as_root rm -rf "$tree"
    say "debootstrap could not make a base image (the log is $log)"
    exit 1
  fi
  as_root tar -C "$tree" --exclude='./proc/*' --exclude='./sys/*' --exclude='./var/cache/apt/archives/*.deb' -c . |
    run_docker import - "$name" >/dev/null
  as_root rm -rf "$tree"
}

# apt_setting NAME: what apt on the host would use; empty where there is no apt.
apt_setting() { { apt-config dump "$1" --format '%v%n' 2>/dev/null || true; } | head -n 1; }

# host_mirror SUITE: where the host itself gets that release from, as debootstrap wants it; empty when it does not.
host_mirror() {
  # shellcheck disable=SC2016  # apt's own variables
  { apt-get indextargets --format '$(CODENAME) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null || true; } |
    awk -v suite="$1" '$1 == suite && $2 == "main" { print $3; exit }'
}

# host_apt_files SUITE FOLDER: the host's sources (when it runs the same release), their keys, and its proxies,
# for the build stage. No credentials.
host_apt_files() {
  local suite=$1 folder=$2
  have apt-config || return 0
  mkdir -p "$folder/apt.conf.d"
  apt-config dump --format '%F "%v";%n' Acquire |
    grep -E '^Acquire::(https?::(Proxy|Timeout)|Check-(Date|Valid-Until)|Retries)' >"$folder/apt.conf.d/90host" || true
  [ "$(base_suite)" = "$suite" ] && grep -qs "^ID=debian" /etc/os-release || return 0
  local item
  for item in sources.list trusted.gpg.d keyrings; do
    [ ! -e "/etc/apt/$item" ] || cp -rL "/etc/apt/$item" "$folder/"
  done
  mkdir -p "$folder/sources.list.d"
  find /etc/apt/sources.list.d -maxdepth 1 \( -name '*.list' -o -name '*.sources' \) \
    -exec cp -L {} "$folder/sources.list.d/" \; 2>/dev/null || true
}
