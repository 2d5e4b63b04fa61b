#!/bin/sh
# A test program for the tests of the runner, in the words of the standard harness. The folder $PLACE says what its tests do: the file `tests` names
# them, `fails.NAME` lets one fail, and `once.NAME` lets it fail the first time. The file `alone` gets the names of those that ran alone.
cd "$PLACE" || exit 1
tests=$(cat tests)
while [ $# -gt 0 ]; do
  case $1 in
  --exact)
    tests=$2
    echo "$tests" >>alone
    ;;
  esac
  shift
done
[ -e dies ] && kill -9 $$
failed=
for test in $tests; do
  if [ -e "fails.$test" ] || [ -e "once.$test" ]; then
    rm -f "once.$test"
    failed="$failed $test"
    echo "test $test ... FAILED <0.001s>"
  else
    echo "test $test ... ok <1.500s>"
  fi
done
[ -z "$failed" ] && exit 0
echo failures:
for test in $failed; do printf -- '---- %s stdout ----\npanicked at here:\n%s is wrong\n\n' "$test" "$test"; done
echo failures:
for test in $failed; do echo "    $test"; done
exit 101
