# shellcheck shell=bash disable=SC2034,SC2154 # one script in parts
# The commands of the box: each function box_NAME reads the arguments of one and does it.

require_up() { is_up || die "the box is not up; tests/cluster/box up brings it up."; }

box_up() {
  local nodes='' rate=''
  while [ $# -gt 0 ]; do
    [ $# -gt 1 ] || die "up takes --nodes NUMBER and --rate RATE; $1 is not understood."
    case $1 in
      --nodes) nodes=$2 ;;
      --rate) rate=$2 ;;
      *) die "up takes --nodes NUMBER and --rate RATE; $1 is not understood." ;;
    esac
    shift 2
  done
  [[ ${nodes:-4} =~ ^[1-9][0-9]?$ && ${nodes:-4} -le $most_nodes ]] || die "--nodes is $nodes, but must be between 1 and $most_nodes."
  [ -z "$rate" ] || require_rate "$rate"
  lock
  if is_up; then
    [ "$(setting recipe)" = "$(recipe_digest)" ] || die "the box is up with an older recipe; take it down first: tests/cluster/box down."
    [ -z "$nodes" ] || [ "$nodes" = "$(setting nodes)" ] ||
      die "the box is up with $(setting nodes) nodes; take it down first: tests/cluster/box down."
    start_controller
    for_each_node power_on
    wait_for_idle "$(node_names | paste -s -d ,)"
  else
    stop_everything
    install_tools
    ensure_rootfs
    start_cluster "${nodes:-4}"
  fi
  [ -z "$rate" ] || for_each_node shape "$rate"
  echo "The box is up with $(setting nodes) nodes"
}

box_down() {
  [ $# = 0 ] || die "down takes no arguments."
  lock
  stop_everything
}

box_clean() {
  [ $# = 0 ] || die "clean takes no arguments."
  lock
  stop_everything
  rm -rf --one-file-system "$state"
}

box_status() {
  if [ "${1:-}" = --versions ]; then
    [ -d "$(rootfs)" ] || die "the root file system is not built; tests/cluster/box up builds it."
    cat "$(rootfs)/etc/box-versions"
    return
  fi
  [ $# = 0 ] || die "status takes --versions or nothing; $1 is not understood."
  if ! is_up; then
    echo "down"
    return
  fi
  printf '%-5s %-11s %-8s %-10s %s\n' NAME ADDRESS PID RATE STATE
  local name
  for name in ctl $(node_names); do
    printf '%-5s %-11s %-8s %-10s %s\n' "$name" "$(address_of "$name")" "$(pid_of "$name" || echo -)" \
      "$(rate_of "$name")" "$(state_of "$name")"
  done
}

state_of() {
  if ! pid_of "$1" >/dev/null; then
    echo off
  elif ! controller_runs; then
    echo "slurmctld is stopped"
  elif [ "$1" = ctl ]; then
    echo "slurmctld runs"
  else
    on ctl sinfo -h -N -p gpu -n "$1" -o %T
  fi
}

box_run() {
  local node=ctl user=hpc folder=''
  while [ $# -gt 0 ]; do
    case $1 in
      --node) node=${2:-}; shift 2 || die "--node stands without its value." ;;
      --root) user=root; shift ;;
      --dir) folder=${2:-}; shift 2 || die "--dir stands without its value." ;;
      --) shift; break ;;
      *) die "run takes --node NODE, --root, --dir DIR and then -- COMMAND; $1 is not understood." ;;
    esac
  done
  [ $# -gt 0 ] || die "run needs a command after --."
  require_up
  [ "$node" = ctl ] || require_node "$node"
  enter "$node" "$user" "$folder" "$@"
}

box_shell() {
  local -r node=${1:-ctl}
  [ $# -le 1 ] || die "shell takes the name of one pseudo host."
  require_up
  [ "$node" = ctl ] || require_node "$node"
  enter "$node" hpc '' script --quiet --return --command 'bash -l' /dev/null
}

# enter NODE USER DIR COMMAND...: becomes the command. It ends when this process is ended.
enter() {
  local -r node=$1 user=$2 folder=$3
  local pid
  shift 3
  pid=$(pid_of "$node") || die "pseudo host $node is off."
  exec nsenter --target "$pid" --mount --uts --ipc --net --pid --root --wd -- \
    setpriv --reuid "$user" --regid "$user" --init-groups --reset-env --pdeathsig TERM -- \
    bash -lc "$in_folder" bash "$folder" "$@"
}

box_rate() {
  [ $# = 2 ] || die "rate takes a node and a rate, as in rate n2 500mbit."
  require_up
  require_node "$1"
  require_rate "$2"
  lock
  shape "$1" "$2"
}

box_power() {
  [ $# = 2 ] || die "power takes a node, and off or on."
  require_up
  require_node "$1"
  lock
  case $2 in
    off) stop_node "$1" ;;
    on)
      power_on "$1"
      wait_for_idle "$1"
      ;;
    *) die "power takes off or on; $2 is neither." ;;
  esac
}

box_controller() {
  require_up
  lock
  case ${1:-} in
    stop) stop_controller ;;
    start) start_controller ;;
    *) die "controller takes stop or start." ;;
  esac
}

box_build() {
  local folder=''
  if [ "${1:-}" = --dir ]; then
    folder=${2:-}
    shift 2 || die "--dir stands without its value."
  fi
  if [ "${1:-}" != -- ] || [ $# = 1 ]; then die "build takes --dir DIR and then -- COMMAND."; fi
  shift
  prepare_build
  build_as_hpc "$folder" "$@"
}

box_put() {
  [ $# = 2 ] || die "put takes a checkout and a folder below /home/hpc."
  local -r source=$(realpath "$1") folder=$(cd / && realpath -m --no-symlinks "$([[ $2 == /* ]] || echo /home/hpc/)$2")
  [[ $folder == /home/hpc/?* ]] || die "put copies to a folder below /home/hpc; $2 is not."
  git -c safe.directory='*' -C "$source" rev-parse --git-dir >/dev/null 2>&1 || die "$1 is no git checkout."
  prepare_build
  send_checkout "$source" | build_as_hpc '' bash -c "$receive_checkout" bash "$folder"
}

# The lock only guards the making of the root file system: builds may run side by side.
prepare_build() {
  lock
  install_tools
  ensure_rootfs
  ensure_home
  exec 9>&-
}
