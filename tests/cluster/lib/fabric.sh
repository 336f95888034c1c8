# shellcheck shell=bash disable=SC2034,SC2154 # one script in parts
# The fabric: what the pseudo hosts share. One process holds a mount namespace, in which the root file system lies
# under a layer that takes the cluster's changes, and a network namespace with the switch. This machine's own mounts
# and links stay as they are, and with the process all of it is gone.

fabric_pid() { marked fabric | head -n 1; }

start_fabric() {
  local -r nodes=$1
  mkdir -p "$cluster"/{root,changes,work}
  ensure_home
  detach env WEFT_BOX_HOST="$state:fabric" unshare --mount --net "$here/lib/inside/fabric" \
    "$(rootfs)" "$cluster" "$home" "$here/conf" "$nodes" >>"$log" ||
    die "the shared file system and the switch could not be set up ($log says why)."
}

# Home folders outlive the cluster, with what package managers keep in them.
ensure_home() { [ -d "$home/hpc" ] || install -D -d -o 1000 -g 1000 -m 700 "$home/hpc"; }

# in_fabric COMMAND...: in the namespace of the switch, with this machine's files.
in_fabric() { nsenter --target "$(fabric_pid)" --net -- "$@"; }
