# shellcheck shell=bash

help_docker() {
  cat <<'HELP'
usage: ./dev docker [--for 20s] [--clients 32] [--transport udp|tcp] [--wads FOLDER] [--base IMAGE] [--build-only]
                    [--keep-build]

Builds the image ashlar:latest, also tagged with the version, runs the server and simulated clients in containers,
and ends with the clients' verdict. What is left behind is the image and the Debian image that it was built on.
Installs Docker's packages when there are none. Where no engine runs, one is started for the time of the command
(as root), with its storage in build/docker/engine, and the image is also written to build/docker/ashlar.tar, for
`docker load`. Where no registry can be reached, the base image is made with debootstrap.

  --wads   a folder of Doom WADs; without it the world has the map that is built in
  --base   the Debian image to build on, instead of debian:bookworm-slim or debian:trixie-slim
  --keep-build   leave the build stage as ashlar-build:latest, 1 GB, so that the next build need not install its
           packages and compile again
HELP
}

# shellcheck source=docker/engine.sh
source docker/engine.sh
# shellcheck source=docker/base_image.sh
source docker/base_image.sh

composed=no context='' build_stage='' kept=''

command_docker() {
  local seconds=20 clients=32 transport=udp wads='' base='' build_only=no keep_build=no
  while [ $# -gt 0 ]; do
    case $1 in
      --build-only)
        build_only=yes
        shift
        continue
        ;;
      --keep-build)
        keep_build=yes
        shift
        continue
        ;;
      --for | --clients | --transport | --wads | --base) need_value "$@" ;;
      *) die "docker has no option $1; see ./dev docker --help" ;;
    esac
    case $1 in
      --for) seconds=$(seconds_of "$2") ;;
      --clients) clients=$(number_of "$1" "$2") ;;
      --transport) transport=$2 ;;
      --wads) wads=$2 ;;
      --base) base=$2 ;;
    esac
    shift 2
  done
  [[ $transport == udp || $transport == tcp ]] || die "--transport is udp or tcp, not '$transport'"
  [ -z "$wads" ] || [ -d "$wads" ] || die "there is no folder '$wads'"

  mkdir -p build/docker
  trap clean_up EXIT
  trap 'exit 130' INT TERM HUP
  find_engine
  build_image "$base" "$keep_build"
  if [ $build_only = no ]; then
    play_in_containers "$seconds" "$clients" "$transport" "$wads"
    keep_a_block_in_containers
  fi
}

# From a context that holds the sources and the host's package sources, so that neither the repository nor the
# image ever contain the latter. Debian's Docker has no BuildKit.
build_image() {
  local base=$1 keep_build=$2 suite version arguments
  suite=$(base_suite)
  version=$(sed -n 's/^project(ashlar VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
  [ -n "$base" ] || base=$(ensure_base_image "$suite")
  say "building ashlar:latest ($version) on $base"
  context=$(mktemp -d)
  mkdir -p "$context/host/docker/setup/apt"
  host_apt_files "$suite" "$context/host/docker/setup/apt"
  tar -cf "$context/context.tar" --exclude-from .dockerignore --exclude ./docker/setup/apt .
  tar -rf "$context/context.tar" -C "$context/host" .
  arguments=(--network host --force-rm -f docker/Dockerfile --build-arg "BASE_IMAGE=$base"
    --build-arg "VERSION=$version" --build-arg "REVISION=$(revision)")
  # The build stage by itself first, so that it has a name to remove it by.
  build_stage=ashlar-build:latest
  DOCKER_BUILDKIT=0 run_docker build "${arguments[@]}" --target build -t "$build_stage" - <"$context/context.tar"
  DOCKER_BUILDKIT=0 run_docker build "${arguments[@]}" -t ashlar:latest -t "ashlar:$version" - \
    <"$context/context.tar"
  [ "$keep_build" = no ] || build_stage=''
  run_docker image inspect ashlar:latest --format '{{.Size}}' |
    awk '{ printf "dev: ashlar:latest has %.1f MB\n", $1 / 1e6 }' >&2
  [ -z "$engine_pid" ] || run_docker save -o build/docker/ashlar.tar ashlar:latest "ashlar:$version"
}

# The commit that is built; "-dirty" where files differ from it.
revision() { git describe --always --dirty --abbrev=40 --exclude '*' 2>/dev/null || echo unknown; }

# The server's exit code counts too: a clean end on SIGTERM is part of what the image promises.
play_in_containers() {
  local status=0 server code
  export ASHLAR_SECONDS=$1 ASHLAR_CLIENTS=$2 ASHLAR_TRANSPORT=$3 ASHLAR_IMAGE=${5:-ashlar:latest}
  [ -z "$4" ] || ASHLAR_WADS=$(cd "$4" && pwd) && export ASHLAR_WADS
  ASHLAR_PORT=$(free_port "") && export ASHLAR_PORT
  composed=yes
  export COMPOSE_PROJECT_NAME=ashlar-dev-$$
  run_compose --profile harness up --no-build --exit-code-from harness --abort-on-container-exit || status=$?
  server=$(run_compose ps -q -a server 2>/dev/null || run_compose ps -q server)
  code=$(run_docker inspect --format '{{.State.ExitCode}}' "$server") || code=unknown
  if [ "$status" -ne 0 ]; then
    run_compose --profile harness logs --tail 30 || true
    say "the simulated clients ended with exit code $status"
    return 1
  fi
  if [ "$code" != 0 ]; then
    say "the server's container ended with exit code $code"
    return 1
  fi
  say "server and clients in containers: all well"
}

# What was built is there again after `docker stop` and another start on the same volume. The console is standard
# input; its end ends nothing.
keep_a_block_in_containers() {
  # An engine of our own has no bridge, and nobody is to connect.
  local code told run=(run_docker run --network none -v) log=build/docker/kept.log
  kept=ashlar-kept-$$
  run_docker volume create "$kept" >/dev/null
  run+=("$kept:/data")
  echo 'set 0 0 40 brick' |
    "${run[@]}" -i --name "$kept" ashlar:latest --map none --monsters 0 >"$log" 2>&1 &
  for _ in $(seq 100); do
    grep -q 'block=brick' "$log" && break
    sleep 0.2
  done
  run_docker stop "$kept" >/dev/null
  code=$(run_docker inspect --format '{{.State.ExitCode}}' "$kept")
  "${run[@]}" --rm ashlar:latest --map none --monsters 0 --for 2s >>"$log" 2>&1 || code="$code, then $?"
  told=$("${run[@]}" --rm ashlar:latest world export /data --area 0,0,40,2 --out /data/kept.obj 2>&1) || true
  echo "$told" >>"$log"
  if [ "$code" != 0 ] || [[ $told != *"6 faces"* ]]; then
    say "a block did not outlive its container (exit code $code), see $log"
    return 1
  fi
  say "a block that was set is there after docker stop and another start"
}

clean_up() {
  [ -z "$kept" ] || run_docker rm -f "$kept" >/dev/null 2>&1 || true
  [ -z "$kept" ] || run_docker volume rm "$kept" >/dev/null 2>&1 || true
  [ $composed = no ] || run_compose --profile harness down --volumes --remove-orphans >/dev/null 2>&1 || true
  [ -z "$context" ] || rm -rf "$context"
  [ -z "$build_stage" ] || run_docker image rm "$build_stage" >/dev/null 2>&1 || true
  stop_engine
}
