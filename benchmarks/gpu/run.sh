#!/bin/sh
# All stages in order of importance, each in at most eight minutes and each with a JSON file of its own in OUT, whatever becomes of the others.
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
status=0
for stage in $stages; do
  echo "== $stage"
  timeout --kill-after=20 "$((minutes * 60))" "$python" "$here/stages.py" "$stage" "$out" --device "$device" --limit "$((minutes * 60))" $tiny || { echo "== $stage: problems, see $out/$stage.json"; status=1; }
done
exit $status
