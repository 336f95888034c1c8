# shellcheck shell=bash
# The root file system of all pseudo hosts: built once per recipe, never written to afterwards.

readonly release=trixie
readonly apptainer_tested=1.4
readonly any_age='Acquire::Check-Valid-Until=false' # a mirror may be a snapshot; its signature is checked all the same
readonly recipe_files=("$here/lib/rootfs.sh" "$here/conf/packages" "$here/conf/sid.pref")

recipe_digest() { cat "${recipe_files[@]}" | sha256sum | cut -c1-12; }

# The folder of the recipe's root file system, built or not.
rootfs() { echo "$state/rootfs-$(recipe_digest)"; }

# The mirror that this host takes Debian's packages from, its security archive aside.
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
  install_debian "$state/rootfs.new" "$mirror"
  install_apptainer "$state/rootfs.new" "$mirror"
  finish_rootfs "$state/rootfs.new"
  mv "$state/rootfs.new" "$root"
}

# Those of other recipes take more than a gigabyte each; the one that a cluster runs on stays.
remove_others() {
  local root
  for root in "$state"/rootfs-* "$state/rootfs.new"; do
    [ "$root" = "$state/rootfs-$(setting recipe)" ] || rm -rf --one-file-system "$root"
  done
}

install_debian() {
  local -r root=$1 mirror=$2
  local packages
  packages=$(sed 's/#.*//' "$here/conf/packages" | xargs | tr ' ' ,)
  mmdebstrap --quiet --mode=root --variant=apt --include="$packages" \
    --aptopt="${any_age/=/ }" --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/doc/*' \
    "$release" "$root" "deb $mirror $release main" >>"$log" 2>&1 9>&- ||
    die "the root file system could not be built from $mirror ($log says why)."
}

# In a mount namespace of its own, so that an interruption leaves no mount.
in_rootfs() {
  local -r root=$1
  shift
  # shellcheck disable=SC2016 # expanded in the namespace
  unshare --mount --pid --fork --kill-child bash -c '
    set -e
    mount -t proc proc "$1/proc"
    mount --bind /etc/resolv.conf "$1/etc/resolv.conf"
    root=$1; shift
    exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"' \
    _ "$root" "$@" >>"$log" 2>&1 </dev/null 9>&-
}

install_apptainer() {
  local -r root=$1 mirror=$2
  echo "deb $mirror sid main" >"$root/etc/apt/sources.list.d/sid.list"
  cp "$here/conf/sid.pref" "$root/etc/apt/preferences.d/sid"
  touch "$root/etc/resolv.conf"
  in_rootfs "$root" apt-get -qq -o "$any_age" update ||
    die "the mirror $mirror has no Debian sid, which apptainer comes from ($log says more)."
  in_rootfs "$root" apt-get -qq install --no-install-recommends apptainer/sid ||
    die "apptainer from Debian sid does not fit Debian $release any more ($log says why); the box was made with $apptainer_tested."
  local version
  version=$(dpkg-query --root="$root" -W -f '${Version}' apptainer)
  case $version in
    "$apptainer_tested".*) ;;
    *) echo "weft: the box has apptainer $version; it was tested with $apptainer_tested." >&2 ;;
  esac
}

finish_rootfs() {
  local -r root=$1
  # Authorities that this machine was told to trust: its proxy may sign TLS anew.
  mkdir -p "$root/usr/local/share/ca-certificates"
  find /usr/local/share/ca-certificates -name '*.crt' -exec cp -t "$root/usr/local/share/ca-certificates" {} +
  in_rootfs "$root" update-ca-certificates || die "the certificates of this machine are not accepted inside ($log says why)."
  # Home folders are the box's own, see fabric; useradd gives the user its subordinate ids too.
  in_rootfs "$root" useradd --no-create-home --shell /bin/bash --uid 1000 hpc || die "no user could be added ($log says why)."
  in_rootfs "$root" git config --system user.name hpc
  in_rootfs "$root" git config --system user.email hpc@box
  echo 'export LANG=C.UTF-8' >"$root/etc/profile.d/locale.sh"
  choose_openmpi "$root"
  rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/etc/slurm "$root"/var/log/*
  dpkg-query --root="$root" -W -f '${Package} ${Version}\n' >"$root/etc/box-versions"
}

# mpich registers itself with the higher priority in some releases.
choose_openmpi() {
  local -r root=$1
  local name
  for name in mpi mpirun; do
    in_rootfs "$root" bash -c "update-alternatives --set $name \"\$(update-alternatives --list $name | grep openmpi)\"" ||
      die "OpenMPI is no alternative for $name in the root file system ($log says more)."
  done
}
