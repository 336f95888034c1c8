# shellcheck shell=bash disable=SC2034,SC2154 # one script in parts
# Pseudo hosts: processes in namespaces of their own (network, host name, IPC, mounts, processes) with private
# /tmp, /run and /dev; all else is the shared file system of the fabric. Process 1 is tini; its death is a power failure.

# start_node NAME ADDRESS: starts the pseudo host and plugs it in, at the rate it had; no service runs on it yet.
start_node() {
  local -r name=$1 address=$2
  local ready='' answer pid
  exec {answer}< <(detach nsenter --target "$(fabric_pid)" --mount -- env WEFT_BOX_HOST="$state:$name" \
    unshare --mount --uts --ipc --net --pid --fork --kill-child "$here/lib/inside/node" "$name" "$cluster/root")
  read -r ready <&"$answer" || true
  exec {answer}<&-
  if [ "$ready" != ready ] || ! pid=$(pid_of "$name"); then die "pseudo host $name did not start ($log says why)."; fi
  plug_in "$name" "$pid" "$address"
  [ ! -e "$cluster/rate.$name" ] || shape "$name" "$(rate_of "$name")"
}

stop_node() {
  local pid
  pid=$(pid_of "$1") || return 0
  kill -KILL "$pid"
  wait_until 10 gone "$1" || die "pseudo host $1 cannot be stopped."
}

gone() { [ -z "$(marked "$1")" ]; }

# on NODE COMMAND...: runs it there as root.
on() {
  local -r name=$1
  local pid
  shift
  pid=$(pid_of "$name") || die "pseudo host $name is off."
  nsenter --target "$pid" --mount --uts --ipc --net --pid --root --wd -- \
    env --ignore-environment PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "$@" 9>&-
}

# Names of the nodes that the box was brought up with.
node_names() { seq -f 'n%.0f' 1 "$(setting nodes)"; }

require_node() {
  node_names | grep -qxF -e "$1" || die "there is no node $1; the box has $(node_names | xargs)."
}

address_of() {
  if [ "$1" = ctl ]; then echo 10.77.0.254; else echo "10.77.0.${1#n}"; fi
}
