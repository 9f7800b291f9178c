#!/bin/sh
# Runs as many stages as fit into the time limit, most important first, each into its own JSON file in OUT. Exit status 3: run the same
# command again to continue. 1: something failed.
# Usage: run.sh OUT [--device cuda:0] [--stages "selftest goldens ..."] [--minutes 8] [--tiny]
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?"usage: run.sh OUT [--device cuda:0] [--stages \"...\"] [--minutes 8] [--tiny]"}
shift
device=cuda:0 stages="selftest goldens iterations speed memory learning" minutes=8 tiny=
while [ $# -gt 0 ]; do
  case $1 in
    --device) device=$2; shift 2 ;;
    --stages) stages=$2; shift 2 ;;
    --minutes) minutes=$2; shift 2 ;;
    --tiny) tiny=--tiny; shift ;;
    *) echo "run.sh: what is $1?" >&2; exit 2 ;;
  esac
done
mkdir -p "$out"
python=${PYTHON:-python3}
seconds=$((minutes * 60))
until=$(($(date +%s) + seconds))
status=0
for stage in $stages; do
  echo "== $stage"
  "$python" "$here/stages.py" "$stage" "$out" --device "$device" --until "$until" --call-seconds "$seconds" $tiny
  case $? in
    0) ;;
    3) echo "== $stage: call again for the rest"; exit 3 ;;
    *) echo "== $stage: problems, see $out/$stage.json"; status=1 ;;
  esac
done
exit $status
