#!/usr/bin/env bash
# Everything that a GPU is to show, unattended: bash bench/gpu.sh OUT
#
#   1 doctor       what is there
#   2 correctness  50 steps on the GPU and on the CPU: losses, Gram matrix, weights and λ (compare.py)
#   3 bench        bench.py: the ratio tables, peers, memory
#   4 speed        steps/s at the sizes of PS-CIFAR-100 and PS-ImageNet-TINY
#   5 precision    the step with products in float32, TF32 and bfloat16, and what that does to weights and accuracy
#   6 warm         the first step with XLA's autotuning cache, empty and full
#   7 twice        the same run twice: whether its bits are the same
#   8 situation    one PS-CIFAR-100 situation, three seeds, five methods
#
# Each stage leaves OUT/STAGE.txt, and OUT/STAGE.done when it has passed: called again, the script goes on where
# it ended, in the middle of a stage too. A stage that fails does not stop those after it, and the script ends
# with 1. It needs Go and a C compiler, Python 3.11 or later with venv, a network for what is not there yet, and about 15 GB
# for the peers.
#
# From the environment: BACKEND (xla-cuda; xla-cpu tries the script without a GPU), PARALLELCL_DATA, THREADS of the
# CPU backend, WIDTH of the ResNet (64), TRAIN images per class (all), SEEDS, INCREMENT, METHODS, STEPS and BATCH of
# stage 4, ETA and DRIFT of memory editing, QUICK=--quick and VENV for bench.py, STAGES. PCL names a program that was built
# elsewhere, and AS_IS=yes has bench.py install nothing into VENV: with both, and the data sets, no network is needed.
set -uo pipefail
unset CDPATH # by which cd would go elsewhere, and print where
out=${1:?usage: bash bench/gpu.sh OUT}
out=$(mkdir -p "$out" && cd "$out" && pwd) || exit 1 # else everything below is made, and removed, in /
cd "$(dirname "$0")/.." || exit 1

backend=${BACKEND:-xla-cuda}
threads=${THREADS:-$(nproc)}
width=${WIDTH:-64}
seeds=${SEEDS:-1234,1235,1236}
increment=${INCREMENT:-class,task}
methods=${METHODS:-emgd-gmc,avggrad,mgda,er}
steps=${STEPS:-50}
batch=${BATCH:-128}
eta=${ETA:-0.003}
drift=${DRIFT:-0.05}
device=cuda
[ "$backend" = xla-cuda ] || device=cpu

if [ -n "${PCL:-}" ]; then
  cp "$PCL" "$out/pcl" || exit 1
else
  [ "$(go env CGO_ENABLED)" = 1 ] && command -v "$(go env CC)" >/dev/null || { echo "XLA needs cgo and a C compiler, such as gcc" >&2; exit 1; }
  go build -o "$out/pcl" ./cmd/pcl || exit 1
fi
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or later is needed" >&2; exit 1; }
pcl=("$out/pcl" --quiet)

need() { "${pcl[@]}" data verify "$1" >/dev/null 2>&1 || "${pcl[@]}" data fetch "$1"; }

doctor() {
  if [ "$backend" = xla-cuda ]; then nvidia-smi || return 1; fi
  "$out/pcl" doctor --backend "$backend" --threads "$threads"
}

# both NAME TOLERANCE FLAGS… trains on the CPU, with one thread, and on the backend in question.
both() {
  local name=$1 tolerance=$2
  shift 2
  rm -rf "$out/correctness/$name"
  "${pcl[@]}" run "$@" --record --out "$out/correctness/$name/cpu" --backend xla-cpu --threads 1 || return 1
  "${pcl[@]}" run "$@" --record --out "$out/correctness/$name/there" --backend "$backend" --threads "$threads" || return 1
  echo "$name:"
  python3 bench/compare.py "$out/correctness/$name/"{cpu,there}/*/records.jsonl --steps 50 --tolerance "$tolerance"
}

# The ResNet hardly moves (its learning rate is 1e-6): training it amplifies rounding a hundredfold per step, and
# CPU runs of one and two threads are apart by 70 % in the Gram matrix within 20 steps. So its gradients, Gram
# matrices and λ are compared on 50 different sets of batches at nearly one θ, the updates with the MLP. The
# tolerance is three times what float32's rounding does: on one CPU, batch norm in the GPU's form and in the
# CPU's are apart by up to 0.011 in the Gram matrix and 0.006 in λ (by 1e-9 in float64).
correctness() {
  need cifar-100 || return 1
  local good=0
  both mlp 1e-4 --dataset glyphs --increment class --method emgd-gmc || good=1
  both resnet18 0.03 --dataset cifar-100 --increment class --method emgd-gmc --width 16 --batch 32 --tasks 10 --train-per-class 35 \
    --optimizer sgd --lr 1e-6 || good=1
  return $good
}

bench() {
  python3 bench/bench.py --device "$device" --out "$out/bench" --pcl "$out/pcl" ${QUICK:-} ${VENV:+--venv "$VENV"} ${AS_IS:+--as-is}
}

speed() {
  for side in 32 64; do
    for k in 2 4; do
      echo "Images of $side×$side, K=$k"
      "${pcl[@]}" bench step --backend "$backend" --threads "$threads" --model resnet18 --width "$width" --side $side --batch "$batch" --k $k \
        --method avggrad,mgda,emgd-gmc --edit --steps "$steps" || return 1
    done
  done
}

# The effect on λ and accuracy is that of three seeds of a narrow ResNet on few images. A run that diverges is a result too.
precision() {
  need cifar-100 || return 1
  local good=0
  local few=(--dataset cifar-100 --width "$((width < 16 ? width : 16))" --batch 32 --train-per-class "${TRAIN:-100}" --labelset 0 --timeline 0
    --increment class --method emgd-gmc --seed "$seeds" --backend "$backend" --threads "$threads" --record)
  for products in "" --tf32 --precision=bfloat16; do
    echo "Products in ${products:-float32}"
    "${pcl[@]}" bench step --backend "$backend" --threads "$threads" --model resnet18 --width "$width" --batch "$batch" --k 3 --steps "$steps" \
      --method avggrad,emgd-gmc $products || return 1
    "${pcl[@]}" run "${few[@]}" --out "$out/precision/${products:-float32}" $products || good=1
  done
  return $good
}

# XLA chooses a GPU's kernels by their time, so that nothing promises the same bits: this says whether they are.
twice() {
  rm -rf "$out/twice"
  for n in 1 2; do
    "${pcl[@]}" run --dataset glyphs --increment class --method emgd-gmc --model resnet18 --width 8 --batch 32 --train-per-class 40 \
      --backend "$backend" --threads "$threads" --out "$out/twice/$n" || return 1
  done
  grep -h model_sha256 "$out"/twice/*/*/result.json | sort | uniq -c
}

warm() {
  rm -rf "$out/autotune"
  mkdir -p "$out/autotune"
  for cache in empty full; do
    echo "Autotuning cache $cache"
    XLA_FLAGS="${XLA_FLAGS:-} --xla_gpu_per_fusion_autotune_cache_dir=$out/autotune" "${pcl[@]}" bench step --backend "$backend" \
      --threads "$threads" --model resnet18 --width "$width" --batch "$batch" --k 2 --steps 2 --method emgd-gmc || return 1
  done
}

# The memory is that of the published tables: 30 per class in total, shared by the classes seen so far.
situation() {
  need cifar-100 || return 1
  local run=("${pcl[@]}" run --backend "$backend" --threads "$threads" --dataset cifar-100 --width "$width" --increment "$increment" --seed "$seeds"
    --labelset 0 --timeline 0 --memory-policy fixed_total --memory 3000 --train-per-class "${TRAIN:-0}" --out "$out/runs")
  local good=0
  "${run[@]}" --method "$methods" || good=1
  "${run[@]}" --method emgd-gmc --edit "$eta" --edit-max-drift "$drift" || good=1
  return $good
}

status=0
for stage in ${STAGES:-doctor correctness bench speed precision warm twice situation}; do
  [ -e "$out/$stage.done" ] && continue
  echo "== $stage ($(date -u +%H:%M:%S))"
  if "$stage" 2>"$out/$stage.err" | tee "$out/$stage.txt"; then
    touch "$out/$stage.done"
  else
    echo "$stage FAILED:"
    tail -5 "$out/$stage.err"
    status=1
  fi
done
exit $status
