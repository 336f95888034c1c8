# shellcheck shell=bash disable=SC2034,SC2154 # one script in parts
# What all parts of the box share: where its files are, how it ends with a sentence, locks, waiting, finding processes.

state=$(realpath -m "${WEFT_BOX:-${XDG_CACHE_HOME:-$HOME/.cache}/weft/box}")
readonly state
readonly cluster=$state/cluster       # all of it is gone after down
readonly home=$state/home             # /home in the box
readonly log=$state/box.log           # what the machinery said; the cluster's own logs are inside
readonly most_nodes=64

die() {
  echo "weft: $*" >&2
  exit 2
}

require_machine() {
  [ "$(id -u)" = 0 ] || die "the box needs root, for its namespaces and mounts."
  [ -e /etc/debian_version ] || die "the box builds its root file system with Debian's tools; this machine is not Debian."
  [[ $state =~ ^[A-Za-z0-9/._+-]+$ ]] || die "WEFT_BOX is $state, but may hold letters, digits and /._+- only."
  # Its folder is the box's own, since `clean` removes it, and closed, since there are shared folders like /tmp in it.
  [ -e "$state/lock" ] || [ -z "$(ls -A "$state" 2>/dev/null)" ] ||
    die "WEFT_BOX is $state, which holds other things; name a folder that is empty or does not exist."
  install -d -m 700 "$state"
}

# In the login shell of a pseudo host's user: into a folder (relative to home; home if ''), then becomes the command.
# shellcheck disable=SC2016 # expanded there
readonly in_folder='cd && cd "${1:-.}" || exit 2; shift; exec "$@"'

# One call at a time changes what is up; what it starts must not hold the lock after it: see `detach`.
lock() {
  exec 9>"$state/lock"
  flock 9
}

# detach COMMAND...: starts it in a session of its own, without this call's terminal and lock.
detach() { setsid "$@" </dev/null 2>>"$log" 9>&-; }

# contained NAME COMMAND...: starts it in the foreground with the mark of pseudo host NAME, to die with this call.
contained() {
  local -r name=$1
  shift
  setpriv --pdeathsig KILL env WEFT_BOX_HOST="$state:$name" "$@"
}

# wait_until SECONDS COMMAND...: asks again until it succeeds; fails after that many seconds.
wait_until() {
  local -r deadline=$((SECONDS + $1))
  shift
  until "$@" &>/dev/null; do
    [ $SECONDS -lt $deadline ] || return 1
    sleep 0.1
  done
}

# marked NAME: the processes that were started as pseudo host NAME of this box, or as any of them. The mark is in the
# environment of a pseudo host's first processes only, and their end is the end of all others.
marked() {
  local -r mark=WEFT_BOX_HOST=${state//./\\.}:${1:-.*}
  grep -lszx -e "$mark" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3 || true
}

# pid_of NAME: the process on this machine that is process 1 of pseudo host NAME; fails where there is none.
pid_of() {
  local pid
  for pid in $(marked "$1"); do
    if is_first "$pid"; then
      echo "$pid"
      return
    fi
  done
  return 1
}

# In a process namespace below ours, and number 1 there.
is_first() {
  awk '/^NSpid:/ { found = NF > 2 && $NF == 1 } END { exit !found }' "/proc/$1/status" 2>/dev/null
}
