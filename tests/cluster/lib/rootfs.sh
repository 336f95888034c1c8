# shellcheck shell=bash disable=SC2034,SC2154 # one script in parts
# The root file system of all pseudo hosts: built once per recipe, never written to afterwards.

readonly recipe_files=("$here/lib/inside/rootfs" "$here/conf/packages" "$here/conf/sid.pref")

# Authorities that this machine was told to trust are in the root file system too.
recipe_digest() {
  local -r authorities=/usr/local/share/ca-certificates
  {
    cat "${recipe_files[@]}"
    [ ! -d $authorities ] || find $authorities -name '*.crt' -print0 | sort -z | xargs -0 -r cat
  } | sha256sum | cut -c1-12
}

# The folder of the recipe's root file system, built or not.
rootfs() { echo "$state/rootfs-$(recipe_digest)"; }

# The mirror that this machine takes Debian's packages from, its security archive aside.
find_mirror() {
  # shellcheck disable=SC2016 # apt-get's own notation
  apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' |
    awk '$1 ~ /^[a-z]+$/ && $2 == "main" && $3 ~ /^https?:/ { print $3; exit }'
}

# The packages of the box itself: mmdebstrap builds, iproute2 connects and shapes, git lists a checkout's files.
install_tools() {
  local missing=()
  command -v mmdebstrap >/dev/null || missing+=(mmdebstrap)
  command -v tc >/dev/null || missing+=(iproute2)
  command -v git >/dev/null || missing+=(git)
  [ ${#missing[@]} -gt 0 ] || return 0
  echo "Installing the Debian packages ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  { apt-get -qq update && apt-get -qq install --no-install-recommends "${missing[@]}"; } >>"$log" 2>&1 9>&- ||
    die "the Debian packages ${missing[*]} could not be installed ($log says why)."
}

ensure_rootfs() {
  local -r root=$(rootfs)
  [ ! -d "$root" ] || return 0
  echo "Building the box's root file system (about two minutes)"
  remove_others
  local mirror
  mirror=$(find_mirror)
  [ -n "$mirror" ] || die "apt of this machine names no Debian mirror, which the root file system is built from."
  contained rootfs unshare --mount --pid --fork --kill-child --mount-proc \
    "$here/lib/inside/rootfs" "$state/rootfs.new" "$mirror" "$here/conf" </dev/null >>"$log" 9>&- ||
    die "the box has no root file system ($log says more)."
  mv --no-target-directory "$state/rootfs.new" "$root"
}

# Those of other recipes take more than a gigabyte each; the one that a cluster runs on stays.
remove_others() {
  local root
  for root in "$state"/rootfs-* "$state/rootfs.new"; do
    [ "$root" = "$state/rootfs-$(setting recipe)" ] || rm -rf --one-file-system "$root"
  done
}
