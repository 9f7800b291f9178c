#!/bin/sh
# Stands before nvcc: keeps beside the object what ptxas says of each kernel (registers, spills), and passes on every other message.
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
said='^ptxas info|^ +[0-9]+ bytes stack frame'
grep -E "$said" "$object.messages" >"$object.ptxas"
grep -v -E "$said" "$object.messages" >&2
rm -f "$object.messages"
exit $status
