# shellcheck shell=bash disable=SC2034,SC2154 # one script in parts
# The cluster as a whole: whether it is up, its start, its end, and the start of a single node.

setting() { sed -n "s/^$1 //p" "$cluster/settings" 2>/dev/null; }

is_up() { [ -e "$cluster/settings" ] && [ -n "$(fabric_pid)" ] && pid_of ctl >/dev/null; }

# Whether it is up is decided by the settings, so they are written last.
start_cluster() {
  local -r nodes=$1
  local n
  start_fabric "$nodes"
  start_node ctl "$(address_of ctl)"
  start_munge ctl
  for ((n = 1; n <= nodes; n++)); do
    start_node "n$n" "$(address_of "n$n")"
    start_munge "n$n"
  done
  start_accounting
  start_controller
  for ((n = 1; n <= nodes; n++)); do start_slurmd "n$n"; done
  printf 'nodes %s\nrecipe %s\n' "$nodes" "$(recipe_digest)" >"$cluster/settings.new"
  wait_for_idle "$(seq -s , -f 'n%.0f' 1 "$nodes")"
  mv "$cluster/settings.new" "$cluster/settings"
}

# for_each_node FUNCTION ARGUMENT...: calls it with each node's name first.
for_each_node() {
  local -r function=$1
  local name
  shift
  for name in $(node_names); do "$function" "$name" "$@"; done
}

# A node without slurmd is one whose start was interrupted.
power_on() {
  if pid_of "$1" >/dev/null; then
    ! on "$1" pgrep -x slurmd >/dev/null || return 0
    stop_node "$1"
  fi
  start_node "$1" "$(address_of "$1")"
  start_munge "$1"
  start_slurmd "$1"
}

stop_everything() {
  # shellcheck disable=SC2046 # a list
  while [ -n "$(marked)" ]; do kill -KILL $(marked) 2>/dev/null || true; sleep 0.1; done
  rm -rf --one-file-system "$cluster" "$state"/build.*
}
