# shellcheck shell=bash disable=SC2034,SC2154 # one script in parts
# The network between pseudo hosts: each has one link, eth0, to the switch of the fabric; tbf shapes both its directions.

# plug_in NAME PID ADDRESS: the link of the pseudo host whose process 1 is PID.
plug_in() {
  local -r name=$1 pid=$2 address=$3
  in_fabric ip link delete "$name" 2>/dev/null || true # of a host that lost its power just now
  in_fabric ip link add name "$name" type veth peer name eth0 netns "$pid"
  in_fabric ip link set "$name" master switch up
  nsenter --target "$pid" --net -- ip link set lo up
  nsenter --target "$pid" --net -- ip address add "$address/24" dev eth0
  nsenter --target "$pid" --net -- ip link set eth0 up
}

# What tc calls a rate, in bits per second; fails for anything else.
bits_per_second() {
  [[ $1 =~ ^([1-9][0-9]{0,5})(k|m|g)bit$ ]] || return 1
  case ${BASH_REMATCH[2]} in
    k) echo $((BASH_REMATCH[1] * 1000)) ;;
    m) echo $((BASH_REMATCH[1] * 1000000)) ;;
    g) echo $((BASH_REMATCH[1] * 1000000000)) ;;
  esac
}

require_rate() {
  [ "$1" = none ] || bits_per_second "$1" >/dev/null ||
    die "a rate is a whole number with its unit, as in 500mbit or 1gbit, or none; $1 is not."
}

# shape NODE RATE: what leaves the node is held back on its eth0, what enters it at the switch's end.
shape() {
  local -r name=$1 rate=$2
  local pid
  pid=$(pid_of "$name") || die "node $name is off, so its link cannot be shaped."
  echo "$rate" >"$cluster/rate.$name"
  shape_link "$rate" eth0 nsenter --target "$pid" --net --
  shape_link "$rate" "$name" in_fabric
}

# What the node's link was last shaped to.
rate_of() { cat "$cluster/rate.$1" 2>/dev/null || echo none; }

# A bucket of 68 KiB, or of 125 us at rates that would empty it faster: a message of megabytes gets through at the rate,
# and not faster because the bucket was full; the largest packet still fits, or each would be cut up in software.
shape_link() {
  local -r rate=$1 link=$2
  shift 2
  "$@" tc qdisc delete dev "$link" root 2>/dev/null || true
  [ "$rate" != none ] || return 0
  local burst_bytes=$(($(bits_per_second "$rate") / 8 / 8000))
  [ $burst_bytes -ge 69632 ] || burst_bytes=69632
  "$@" tc qdisc add dev "$link" root tbf rate "$rate" burst "${burst_bytes}b" latency 50ms
}
