# shellcheck shell=bash disable=SC2034,SC2154 # one script in parts
# Services of the pseudo hosts: munge on all, MariaDB, slurmdbd and slurmctld on ctl, slurmd on the nodes.

start_munge() {
  on "$1" sh -ec '
    install -d -o munge -g munge -m 755 /run/munge
    exec setpriv --reuid munge --regid munge --init-groups munged --log-file=/run/munge/log --seed-file=/run/munge/seed
  ' </dev/null >>"$log" 2>&1 || die "munge does not start on $1 ($log says why)."
}

start_accounting() {
  # shellcheck disable=SC2016 # expanded inside
  on ctl sh -ec '
    install -d -o mysql /run/mysqld
    mkdir -p /var/log/slurm /var/spool/slurmctld
    setsid mariadbd --user=mysql --skip-networking >/var/log/mariadb.log 2>&1 </dev/null &' >>"$log" 2>&1
  wait_until 60 on ctl mariadb-admin ping || die "MariaDB does not start; box run --root -- cat /var/log/mariadb.log says why."
  on ctl slurmdbd >>"$log" 2>&1 </dev/null || true
  wait_until 60 on ctl sacctmgr -n show cluster || die "slurmdbd does not start; box run --root -- cat /var/log/slurm/slurmdbd.log says why."
  on ctl sh -ec '
    sacctmgr -i add cluster box
    sacctmgr -i add account proj
    sacctmgr -i add user hpc account=proj' >>"$log" 2>&1 </dev/null || die "the accounts cannot be set up ($log says why)."
}

controller_runs() { on ctl pgrep -x slurmctld >/dev/null; }

start_controller() {
  ! controller_runs || return 0
  if ! on ctl slurmctld >>"$log" 2>&1 </dev/null || ! wait_until 60 on ctl scontrol ping; then
    die "slurmctld does not start; box run --root -- cat /var/log/slurm/slurmctld.log says why."
  fi
}

stop_controller() {
  controller_runs || return 0
  on ctl pkill -x slurmctld
  wait_until 60 controller_is_stopped || die "slurmctld does not stop."
}

controller_is_stopped() { ! controller_runs; }

start_slurmd() {
  on "$1" slurmd -N "$1" >>"$log" 2>&1 </dev/null ||
    die "slurmd does not start on $1; box run --root -- cat /var/log/slurm/slurmd-$1.log says why."
}

# wait_for_idle NODES: until Slurm would give each a job.
wait_for_idle() {
  wait_until 60 all_idle "$1" ||
    die "after a minute not all nodes are ready: $(on ctl sinfo -h -N -p gpu -n "$1" -o '%N %T %E' | paste -s -d ';')"
}

all_idle() {
  local states
  states=$(on ctl sinfo -h -N -p gpu -n "$1" -o %T) && ! grep -qvxE 'idle|mixed|allocated' <<<"$states"
}
