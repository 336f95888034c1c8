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

# copy_checkout SOURCE FOLDER: the files that git lists or would, to FOLDER below the home folder on this machine. What
# an earlier copy brought and SOURCE has no more is removed; what was built there stays.
copy_checkout() {
  local -r source=$1 folder=$2
  if [ -d "$folder/.git" ]; then
    git -c safe.directory='*' -C "$folder" ls-files -z | (cd "$folder" && xargs -0 -r rm -f --)
  fi
  mkdir -p "$folder"
  git -c safe.directory='*' -C "$source" ls-files -z --cached --others --exclude-standard |
    (cd "$source" && while IFS= read -r -d '' path; do
      if [ -e "$path" ] || [ -L "$path" ]; then printf '%s\0' "$path"; fi
    done) |
    tar -C "$source" --create --no-recursion --null --files-from - | tar -C "$folder" --extract --no-same-owner
  rm -rf "$folder/.git"
  chown -hR 1000:1000 "$folder"
}
