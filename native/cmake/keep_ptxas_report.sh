#!/bin/sh
# Runs nvcc. Writes ptxas's report on each kernel (registers, spills) to a file beside the object, and prints all other messages.
object=
previous=
for argument; do
  [ "$previous" = -o ] && object=$argument
  previous=$argument
done
case $object in
  *.o) ;;
  *) exec "$@" ;;
esac
"$@" 2>"$object.messages"
status=$?
report='^ptxas info|^ +[0-9]+ bytes stack frame'
grep -E "$report" "$object.messages" >"$object.ptxas"
grep -v -E "$report" "$object.messages" >&2
rm -f "$object.messages"
exit $status
