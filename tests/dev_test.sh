#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The promises of ./dev that hold before anything is built: usage errors end with 2, and set-up names every package.
set -eu
cd "$(dirname "$0")/.."

expect() {  # STATUS WORDS COMMAND...
  want=$1; words=$2; shift 2
  status=0
  output=$("$@" 2>&1 </dev/null) || status=$?
  if [ "$status" != "$want" ]; then echo "$*: status $status, expected $want: $output"; exit 1; fi
  case "$output" in *"$words"*) ;; *) echo "$*: '$words' expected in: $output"; exit 1 ;; esac
}

expect 0 './dev setup [--print]' ./dev
expect 0 './dev memory' ./dev
expect 2 'no verb turbine' ./dev turbine
expect 2 'not in this version' ./dev scenarios 21
expect 2 'no preset fast' ./dev build fast
expect 2 'nightly has no rest' ./dev nightly rest
expect 2 'at most 60' ./dev fuzz --minutes 61
expect 2 'at most 3600' ./dev fuzz --seconds 3601
expect 2 'needs a number' ./dev fuzz --seconds soon
expect 2 'does not know --hours' ./dev fuzz --hours 1
expect 2 'needs a program' ./dev python --python
expect 2 'no Python no-such-program' ./dev python --python no-such-program
expect 2 'tools/bare_machine' tools/bare_machine
for package in $(sed 's/#.*//' tools/packages.txt); do
  expect 0 " $package " ./dev setup --print
done
echo "dev answers as documented"
