#!/bin/sh
# Compiles the kernel part: build.sh [OUT]. The same bytes wherever it is done: no path of the machine is in it.
set -e
cd "$(dirname "$0")"
out=${1:-bridge.bpf.o}
version=$(cat COMPILER)
for program in "clang-$version" "llvm-strip-$version"; do
  command -v "$program" >/dev/null || { echo "the kernel part is compiled with $program: install it" >&2; exit 1; }
done
"clang-$version" -O2 -g -target bpf -mcpu=v3 -Wall -Wextra -Werror -ffile-prefix-map="$PWD"=. -c bridge.bpf.c -o "$out"
"llvm-strip-$version" -g "$out"
