#!/bin/sh
# Compiles the kernel parts: build.sh [DIRECTORY]. The output is reproducible: it contains no path
# of the machine.
set -e
cd "$(dirname "$0")"
out=${1:-.}
version=$(cat COMPILER)
for program in "clang-$version" "llvm-strip-$version"; do
  command -v "$program" >/dev/null || { echo "the kernel part is compiled with $program: install it" >&2; exit 1; }
done
compile() { # NAME SOURCE [OPTION]
  "clang-$version" -O2 -g -target bpf -mcpu=v3 -Wall -Wextra -Werror $3 -ffile-prefix-map="$PWD"=. -c "$2.bpf.c" -o "$out/$1.bpf.o"
  "llvm-strip-$version" -g "$out/$1.bpf.o"
}
for part in bridge tap edge options; do
  compile "$part" "$part"
done
# For an algorithm that only sets a window.
compile window bridge -DWINDOW
