# shellcheck shell=bash
# What the %test of every recipe checks. Sourced by bash, inside the image.
set -uo pipefail
readonly containers=/opt/weft/containers
broken=0 # what the %test ends with

# promise SENTENCE COMMAND...: says whether the command succeeds, and what it wrote where it does not.
promise() {
  local -r sentence=$1
  local written
  shift
  if written=$("$@" 2>&1); then
    echo "ok: $sentence"
  else
    echo "broken: $sentence"
    echo "$written"
    # shellcheck disable=SC2034
    broken=1
  fi
}

# Whether every package of the lists is installed in its pinned version.
versions_as_pinned() {
  local list pin
  for list in "$@"; do
    while read -r pin; do
      [ "$(dpkg-query -W -f '${Version}' "${pin%%=*}")" = "${pin#*=}" ] || {
        echo "${pin%%=*} is not ${pin#*=}"
        return 1
      }
    done < <(sed -E 's/[[:space:]]*#.*//; /^$/d' "$containers/$list.versions")
  done
}

cmake_is_new_enough() { cmake --version | awk '/version/ { split($3, v, "."); exit !(v[1] > 3 || v[2] >= 28) }'; }

# two_ranks LAUNCHER...: runs a program as two ranks that exchange a message.
two_ranks() { with_program "$@" ./two_ranks; }

# needs_library PATTERN: whether a program of this MPI loads such a library.
needs_library() { with_program ldd ./two_ranks | grep -E "$1"; }

with_program() (
  folder=$(mktemp -d) && trap 'rm -rf "$folder"' EXIT && cd "$folder" &&
    mpicxx -O2 ${LDFLAGS:+"$LDFLAGS"} "$containers/common/two_ranks.cpp" -o two_ranks && "$@"
)

toolchain_is_complete() {
  promise "cmake is 3.28 or newer" cmake_is_new_enough
  promise "ninja runs" ninja --version
  promise "mpicxx compiles C++17" mpicxx -std=c++17 -x c++ -fsyntax-only - <<<'#include <filesystem>'
}

compiles_device_code() {
  nvcc -x cu -arch=sm_90 -o /dev/null - <<<'__global__ void k(int* x) { ++*x; } int main() { k<<<1, 1>>>(nullptr); }'
}

# Whether nothing that a library loads is missing, the driver aside.
finds_libraries() { ! ldd "$@" | grep 'not found' | grep -vE 'lib(cuda|nvidia-ml)\.so\.1'; }
