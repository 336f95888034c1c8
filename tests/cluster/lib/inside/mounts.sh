# shellcheck shell=bash
# Mounts of a pseudo host, for scripts that are already in a mount namespace of their own.

# lay_changes ROOTFS FOLDER: mounts ROOTFS at FOLDER/root; what is written there goes to FOLDER/changes.
lay_changes() {
  mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/changes,workdir=$2/work" "$2/root"
}

# make_devices FOLDER: device files of our own, so that none of this machine's changes its mode.
make_devices() {
  local -r dev=$1
  local name number
  mount -t tmpfs -o mode=755,nosuid devices "$dev"
  while read -r name number; do
    # shellcheck disable=SC2086 # two numbers
    mknod -m 666 "$dev/$name" c $number
  done <<'DEVICES'
null 1 3
zero 1 5
full 1 7
random 1 8
urandom 1 9
tty 5 0
fuse 10 229
arena0 1 3
arena1 1 3
arena2 1 3
arena3 1 3
DEVICES
  mkdir "$dev/pts" "$dev/shm"
  mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$dev/pts"
  mount -t tmpfs -o mode=1777 shm "$dev/shm"
  ln -s pts/ptmx "$dev/ptmx"
  ln -s /proc/self/fd "$dev/fd"
  ln -s /proc/self/fd/0 "$dev/stdin"
  ln -s /proc/self/fd/1 "$dev/stdout"
  ln -s /proc/self/fd/2 "$dev/stderr"
}

# enter_root FOLDER: makes it this process's root; needs a process namespace of its own, for /proc.
enter_root() {
  cd "$1" || return
  mkdir -p run/outside
  pivot_root . run/outside
  mount -t proc proc /proc
  mount -t sysfs -o ro sys /sys
  umount -l /run/outside
  rmdir /run/outside
}
