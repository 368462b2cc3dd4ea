#!/usr/bin/env bash
# Makes a grid of many small runs by a Slurm array on this machine alone, while workers are killed, tasks requeued and
# preempted, and the node crashes. Then it checks that every run was made, with the result of one undisturbed process.
#
#   deploy/trial/slurm.sh FOLDER [SEEDS [SECONDS]]
#
# FOLDER receives everything, Slurm's files included. The grid has four runs for each of SEEDS (520) seeds; something
# happens about every SECONDS (6). If Slurm is not installed, the packages of Debian or Ubuntu are unpacked into the
# folder. PCL may name a pcl to use; otherwise one is built. It needs root, because slurmd does, and python3.
set -euo pipefail
unset CDPATH # by which cd would go elsewhere, and print where
[[ $# -ge 1 && $# -le 3 ]] || { sed -n '2,/^set/s/^# \{0,1\}//p' "$0"; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
work=$(cd "$1" && pwd)
seeds=${2:-520} every=${3:-6}
[[ ! -e $work/grid ]] || { echo "$work/grid exists: name a new folder" >&2; exit 2; }
say() { printf '%4d s  %s\n' "$SECONDS" "$*"; }

# --- pcl

pcl=${PCL:-$work/pcl}
[[ -n ${PCL:-} ]] || go -C "$here/../.." build -o "$pcl" ./cmd/pcl

# --- Slurm, on ports of the loopback that only this trial uses

if ! command -v slurmctld >/dev/null; then
	root=$work/slurm
	if [[ ! -d $root/usr ]]; then
		mkdir -p "$root/debs"
		(cd "$root/debs" && apt-get -qq download libhwloc15 liblua5.1-0 libmunge2 slurm-client slurm-wlm-basic-plugins slurmctld slurmd)
		for d in "$root"/debs/*.deb; do dpkg -x "$d" "$root"; done
	fi
	lib=$(dirname "$(find "$root/usr/lib" -name slurm-wlm -type d)")
	export PATH=$root/usr/bin:$root/usr/sbin:$PATH LD_LIBRARY_PATH=$lib:$lib/slurm-wlm
	for p in slurmctld slurmd slurmstepd; do ln -sf "$p-wlm" "$root/usr/sbin/$p"; done
	plugins="PluginDir=$lib/slurm-wlm"
fi
state=$work/state
mkdir -p "$state/ctld" "$state/spool" "$work/logs"
port=$((20000 + RANDOM % 10000))
cat >"$work/slurm.conf" <<EOF
ClusterName=trial
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=$(id -un)
AuthType=auth/none
CredType=cred/none
AuthInfo=cred_expire=5
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SchedulerParameters=batch_sched_delay=1,sched_interval=5,bf_interval=5
JobRequeue=1
KillWait=15
SlurmdTimeout=60
SlurmctldTimeout=60
MessageTimeout=60
ReturnToService=2
SlurmdParameters=config_overrides
StateSaveLocation=$state/ctld
SlurmdSpoolDir=$state/spool
SlurmctldPidFile=$state/slurmctld.pid
SlurmdPidFile=$state/slurmd.pid
SlurmctldLogFile=$work/logs/slurmctld
SlurmdLogFile=$work/logs/slurmd
${plugins:-}
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=usual Nodes=ALL Default=YES PriorityTier=1 PreemptMode=REQUEUE State=UP
PartitionName=urgent Nodes=ALL PriorityTier=9 PreemptMode=OFF State=UP
EOF
export SLURM_CONF=$work/slurm.conf

start_node() { nice -n 10 slurmd -D -d "$(command -v slurmstepd)" "$@" >>"$work/logs/slurmd.out" 2>&1 & node=$!; }

# workers prints the processes that make runs of the grid, and steps those by which Slurm runs them.
workers() { pgrep -f "grid run $work/trial.toml .*--dir $work/grid " || true; }
steps() {
	local p
	for p in $(pgrep -f "^slurmstepd: \[|$state/spool/job"); do
		if grep -qzF "SLURM_CONF=$SLURM_CONF" "/proc/$p/environ" 2>/dev/null; then echo "$p"; fi
	done
}

stop_all() {
	local p
	trap - EXIT
	[[ -z ${array:-} ]] || scancel "$array" 2>/dev/null || true
	kill "${reference:-}" 2>/dev/null || true
	for p in $(workers) $(steps) "${node:-}" "${controller:-}"; do kill -9 "$p" 2>/dev/null || true; done
}
trap stop_all EXIT
trap 'exit 1' INT TERM

slurmctld -D >"$work/logs/slurmctld.out" 2>&1 &
controller=$!
start_node
for ((i = 0; i < 60; i++)); do
	sinfo -h -o %t 2>/dev/null | grep -q idle && break
	sleep 1
done
sinfo

# --- The grid

python3 "$here/data.py" "$work/data"

cat >"$work/trial.toml" <<EOF
title = "Many small runs"
datasets = ["Noise"]
methods = ["AvgGrad", "EMGD(GMC)"]
increments = ["task", "class"]
labelsets = [0]
timelines = [0]
seeds = [$(seq -s, 1 "$seeds")]
[set]
batch = 16
tasks = 2
min_classes = 5
max_classes = 5
hidden = [8]
eval_every = 100000
memory.budget = 10
[dataset.Noise]
dataset = "mnist-test80"
[method.AvgGrad]
method = "avggrad"
[method."EMGD(GMC)"]
method = "emgd-gmc"
EOF
shards=$((seeds / 13 < 4 ? 4 : seeds / 13))
"$pcl" deploy slurm "$work/trial.toml" --backend go --dir "$work/grid" --shards "$shards" --per-task 2 --cpus 1 --concurrent 2 \
	--limit 2m --grace 10s --data-dir "$work/data" --pcl "$pcl" -o "$work/trial.sbatch"
nice -n 10 "$pcl" -q grid run "$work/trial.toml" --backend go --dir "$work/one" --data-dir "$work/data" >"$work/logs/one" 2>&1 &
reference=$!

status() { "$pcl" -q grid status "$work/trial.toml" --dir "$work/grid" --data-dir "$work/data" "$@"; }
submit() { array=$(sbatch --parsable --output="$work/logs/task-%a" "$work/trial.sbatch") && say "array $array of $shards shards"; }
began=$SECONDS
submit

# --- What happens to it

declare -A happened
note() { happened[$1]=$((${happened[$1]:-0} + 1)) && say "$1${2:+: $2}"; }
any() { shuf -n 1; }
task() { squeue -h -j "$array" -t RUNNING -o %i | any; }

# Each of these returns 1 if there was nothing to do it to.
kill_worker() { local p; p=$(workers | any); [[ -n $p ]] && kill -9 "$p" && note "worker killed" "$p"; }
end_worker() { local p; p=$(workers | any); [[ -n $p ]] && kill -TERM "$p" && note "worker asked to end" "$p"; }
requeue() { local t; t=$(task); [[ -n $t ]] && scontrol requeue "$t" && note "task requeued" "$t"; }
announce() { local t; t=$(task); [[ -n $t ]] && scancel --signal=USR1 --batch "$t" && note "end of the time announced" "$t"; }
preempt() {
	[[ -n $(task) ]] && sbatch --parsable --partition=urgent --exclusive --time=1 --output=/dev/null --wrap='sleep 1' >/dev/null && note "urgent job submitted"
}
restart_slurmd() {
	[[ -n $(workers) ]] || return
	kill -9 "$node" && wait "$node"
	sleep 1
	start_node
	note "slurmd killed and started"
}
crash() {
	local p
	[[ -n $(workers) ]] || return
	kill -9 "$node"
	for p in $(steps) $(workers); do kill -9 "$p"; done
	wait "$node"
	sleep 2
	start_node -b
	note "node crashed and booted"
}
# A worker that is stopped can neither reckon nor save: the task runs into its limit.
freeze() { local p; p=$(workers | any); [[ -n $p ]] && kill -STOP "$p" && note "worker frozen, until the time limit" "$p"; }

all=(kill_worker kill_worker kill_worker end_worker requeue requeue announce preempt restart_slurmd crash)
next=0 frozen=
while :; do
	if [[ -z $(squeue -h -j "$array" -o %i 2>/dev/null) ]]; then
		status --json | grep -q '"Left":0' && break
		note "submitted again, because a task had ended with runs left"
		submit
	fi
	if ((SECONDS - began > 40)) && [[ -z $frozen ]]; then
		freeze && frozen=yes
	fi
	((next % ${#all[@]})) || mapfile -t all < <(shuf -e "${all[@]}")
	"${all[next++ % ${#all[@]}]}" 2>>"$work/logs/mischief" || { sleep 0.5; continue; }
	ms=$((every * 300 + RANDOM % (every * 1400)))
	sleep "$((ms / 1000)).$((ms % 1000 / 100))"
done
array=
say "the array has ended; it took $((SECONDS - began)) s"
wait "$reference"
say "one process has ended too"

# --- What came of it

for what in "${!happened[@]}"; do printf '%4d × %s\n' "${happened[$what]}" "$what"; done | sort -rn
echo "$(cat "$work"/logs/task-* | grep -c 'goes back to the queue') × a task gave itself back to the queue"
echo "$(cat "$work"/logs/task-* | grep -c 'the time is up') × a worker's time was up"
status
python3 "$here/compare.py" "$work/grid" "$work/one"
