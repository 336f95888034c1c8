# shellcheck shell=bash
# A library that comes as a package of its makers, .rpm or .deb. Sourced by bash after install.sh.

# unpack_package FOLDER NAME: unpacks the package of the folder where it wants to lie, and links /opt/NAME to where its
# bin/mpicxx came to be.
unpack_package() {
  local found
  local -r package=$(echo "$1"/*) name=$2
  case $package in
    *.rpm) (cd / && cmake -E tar xf "$package") ;;
    *.deb) dpkg-deb --extract "$package" / ;;
  esac
  label "package.$name" "$(basename "$package")"
  rm -rf "$1"
  mapfile -t found < <(find /opt -path /opt/wheels -prune -o -path '*/bin/mpicxx' -print)
  if [ ${#found[@]} -ne 1 ]; then
    echo "broken: $(basename "$package") has ${#found[@]} programs bin/mpicxx below /opt, but must have one" >&2
    exit 1
  fi
  ln -s "$(dirname "$(dirname "${found[0]}")")" "/opt/$name"
  printf '%s\n' "/opt/$name/lib64" "/opt/$name/lib" >"/etc/ld.so.conf.d/$name.conf"
  ldconfig
}
