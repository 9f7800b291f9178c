#!/bin/sh
# The first hour on a GPU: runs every stage, most important first, each into its own small JSON file in OUT. Models, runs and goldens stay in
# WORK. Exits with status 1 if a check failed, and 3 if the time limit was too short: run the same command again to continue.
# Usage: run.sh OUT [--device cuda:0] [--stages "selftest sanitizer ..."] [--minutes 90] [--work FOLDER] [--tiny]
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?"usage: run.sh OUT [--device cuda:0] [--stages \"...\"] [--minutes 90] [--work FOLDER] [--tiny]"}
shift
device=cuda:0 stages="selftest sanitizer speed iterations kernels profile goldens memory learning" minutes=90 work=$here/work tiny=
while [ $# -gt 0 ]; do
  case $1 in
    --device) device=$2; shift 2 ;;
    --stages) stages=$2; shift 2 ;;
    --minutes) minutes=$2; shift 2 ;;
    --work) work=$2; shift 2 ;;
    --tiny) tiny=--tiny; shift ;;
    *) echo "run.sh: unknown argument $1" >&2; exit 2 ;;
  esac
done
mkdir -p "$out" "$work"
python=${PYTHON:-python3}
seconds=$((minutes * 60))
until=$(($(date +%s) + seconds))
status=0
for stage in $stages; do
  echo "== $stage"
  "$python" "$here/stages.py" "$stage" "$out" --work "$work" --device "$device" --until "$until" --call-seconds "$seconds" $tiny
  case $? in
    0) ;;
    3) echo "== $stage: run again for the rest"; exit 3 ;;
    *) echo "== $stage: problems, see $out/$stage.json"; status=1 ;;
  esac
done
exit $status
