# shellcheck shell=bash disable=SC2034,SC2154 # one script in parts
# Set-up with this machine's network: commands in a pseudo host of their own, which no cluster needs to be up for.

# What tells package managers where to go on this machine.
readonly network_variables=(http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY
  PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_DEFAULT_TIMEOUT UV_DEFAULT_INDEX UV_INDEX_URL)

# build_as_hpc FOLDER COMMAND...: runs it in FOLDER (home if ''); its status is the command's.
build_as_hpc() {
  local -r folder=$1
  local variable
  shift
  local words=()
  for variable in "${network_variables[@]}"; do
    [ -z "${!variable:-}" ] || words+=("$variable=${!variable}")
  done
  scratch=$(mktemp -d "$state/build.XXXXXX")
  trap 'rm -rf --one-file-system "$scratch"' EXIT
  mkdir "$scratch"/{root,changes,work}
  mkdir -m 1777 "$scratch/tmp"
  contained build unshare --mount --uts --ipc --pid --fork --kill-child \
    "$here/lib/inside/build" "$(rootfs)" "$home" "$scratch" \
    setpriv --reuid hpc --regid hpc --init-groups --reset-env -- env "${words[@]}" \
    bash -lc "$in_folder" bash "$folder" "$@"
}

# send_checkout SOURCE: the files that git lists or would list, as a tar archive.
send_checkout() {
  cd "$1" || return
  git -c safe.directory='*' ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' path; do
      if [ -e "$path" ] || [ -L "$path" ]; then printf '%s\0' "$path"; fi
    done |
    tar --create --no-recursion --null --files-from -
}

# As hpc, in the folder for a checkout: takes the archive from standard input. What an earlier one brought and this one
# has no more is removed, what was built there stays.
# shellcheck disable=SC2016 # expanded there
readonly receive_checkout='set -e
mkdir -p "$1"
cd "$1"
if [ -d .git ]; then git ls-files -z | xargs -0 -r rm -f --; fi
tar --extract
rm -rf .git
git init -q -b main
git add -A
git commit -q -m "Copy of a checkout"'
