# shellcheck shell=bash
# What the %post of every recipe does with Debian's packages. Sourced by bash, inside the image.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
readonly containers=/opt/weft/containers

# The lines NAME=VERSION of the lists of this name, without comments.
pins_of() {
  local list
  for list in "$@"; do sed -E 's/[[:space:]]*#.*//; /^$/d' "$containers/$list.versions"; done
}

# The version that a list pins a package at.
version_of() { pins_of "$1" | sed -n "s/^$2=//p"; }

# Leaves half of what the packages bring out: documents, what UCX wants for AMD's GPUs, Fortran, sanitizers. Waiting
# for the disk after every file is no use in an image that is not yet kept.
keep_small() {
  printf '%s\n' force-unsafe-io path-exclude=/usr/share/{doc,man,info,locale,lintian}/'*' \
    path-exclude=/usr/lib/x86_64-linux-gnu/lib{LLVM,z3,amd_comgr,amdhip64,hsa-runtime64,asan,hwasan,lsan,tsan}'*' \
    path-exclude=/usr/{bin/cpack,bin/'*'-lto-dump-'*',libexec/gcc/'*'/f951} >/etc/dpkg/dpkg.cfg.d/weft
  printf '%s\n' 'APT::Install-Recommends "false";' 'Acquire::Languages "none";' 'Acquire::Retries "3";' \
    >/etc/apt/apt.conf.d/weft
}

# install_pinned RELOCK LIST...: installs the packages of the lists, each in its pinned version; with RELOCK yes in
# the newest one that the mirror has.
install_pinned() {
  local -r relock=$1
  local pins
  shift
  mapfile -t pins < <(pins_of "$@")
  if [ "$relock" = yes ]; then pins=("${pins[@]%%=*}"); fi
  keep_small
  apt-get update -q
  apt-get install -q -y "${pins[@]}"
}

# Leaves nothing of the package manager but what is installed.
clean_up() {
  apt-get clean
  rm -rf /var/lib/apt/lists/* /var/cache/debconf/*-old /var/log/apt /var/log/dpkg.log /var/log/bootstrap.log
}

# label NAME VALUE: what `apptainer inspect` shows of the image.
label() { echo "$1 $2" >>"$APPTAINER_LABELS"; }

# label_versions PACKAGE...: a label with the version of each installed package.
label_versions() {
  local package
  for package in "$@"; do label "version.$package" "$(dpkg-query -W -f '${Version}' "$package")"; done
}
