# shellcheck shell=bash

help_bench() {
  cat <<'HELP'
usage: ./dev bench [NAME] [arguments of the benchmark]

Builds with the preset bench and runs bench_NAME, or all of them, which takes more than an hour:

  collide    W1 characters walking through voxels, W2 rays, moves with steps, corrections, rays against a mesh
  maps       W4 point location, sight and walking steps in Doom maps; compiling all maps
  monsters   [--ticks N] up to 10 000 monsters asleep, wandering and hunting; ways through maps
  movers     1000 moving sectors, with bodies on them
  net        [--only NAME,...] [--rounds N] the server with players over sockets against a null server: spreads over
             800 m, crowds in one spot, the largest that holds; some 40 minutes, `--only spread60,crowd60` a few
  protocol   encoding and decoding
  snapshot   [SECONDS] bits an entity and update of packed snapshots on four scenes over losses; ns to code one
  step       [--ticks N] [--only big|idle] World::step with 1000 players and 1000 monsters spread over 800 x 800 m,
             its parts, beside W1's sweep; and with nobody there
  edits      [--ticks N] 200 players who dig and build: what they add to a tick
  sessions   [SECTION ...] handshakes a second, what each cipher costs a datagram; what a connection makes of a
             line with losses, beside a Reno flow
  feel       [--seconds N] [--players N] [--rate HZ] [--svg FOLDER] how a match feels over round trips, losses and
             jitters: corrections, waiting commands, age of the others, hits judged as they were seen
  simulate   [MINUTES [SEED]] an hour of the whole system with every fault on simulated time
  walk       [--minutes M] [--map NAME] ... 500 movers for 2 minutes on every map; about an hour
  abuse      [--server PATH] [--seconds N] [ATTACK ...] what honest players lose while a server is attacked
  flood      [--server PATH] [--seconds N] [NAME ...] garbage at 250 000 and 500 000 datagrams a second: what honest
             players lose, the server's memory, its ticks
  terrain    chunks of ground a second and core, and their bytes, of each kind of terrain
  stream     [--clients N] [--mbit RATE] [--terrain KIND] [--away METRES] how long players wait for ground that
             is sent to them
  voxel      [--seconds N] [--chunks N] [SECTION ...] ground made, coded, held, changed by 200 players in real time and
             saved; a start with a million changed chunks. Without a SECTION `stream` follows
  xray       [--tunnels N] whether seeing through the ground finds more ore a block, against a real server
  kill       [ROUNDS [BUILDERS]] a server under 50 builders is killed 200 times: what it announced as saved is there
  explore    [--maps all|A,B] ... simulated players who set out to enter every sector they can; minutes

collide, maps and terrain take no arguments; movers and protocol take Google Benchmark's, such as
--benchmark_filter=decode; the first lines of tests/bench/bench_NAME.cpp name all arguments of the others.
HELP
}

command_bench() {
  local name names=()
  if [ "${1:-}" = kill ]; then
    configure release
    build_targets release ashlar-server ashlar-sim
    python3 tests/integration/check_kill.py build/release/bin/ashlar-server build/release/bin/ashlar-sim \
      "${2:-200}" "${3:-50}"
    return
  fi
  configure bench
  mapfile -t names < <(bench_names)
  [ ${#names[@]} -gt 0 ] || die "tests/bench holds no bench_*.cpp"
  if [ $# -gt 0 ] && [[ $1 != -* ]]; then
    name=${1#bench_}
    shift
    [[ " ${names[*]} " == *" $name "* ]] || die "there is no benchmark '$name'; there are: ${names[*]}"
    names=("$name")
  fi
  [ "${names[*]}" = voxel ] && [ $# -eq 0 ] && names=(voxel stream)
  build_targets bench "${names[@]/#/bench_}"
  # Those start the programs themselves.
  [[ ! " ${names[*]} " =~ " net "|" abuse "|" flood " ]] || build_targets bench ashlar-server ashlar-sim
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
