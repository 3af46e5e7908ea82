#!/bin/sh
# Compiles LLVM IR for an NVIDIA GPU and judges what became of its memory operations.
#
#   check.sh [--baseline known.json] FILE.ll…
#
# Fails where the compiler lost something: an order, a scope, an access. Nothing is run, and no GPU is
# needed. In a workflow of GitHub the findings are annotations of the lines of the source.
#
#   CAUSEWAY   the command [causeway]       LLC      the compiler [llc]
#   ARCH       the target [sm_70]           LLCFLAGS what else it is given
set -eu

causeway=${CAUSEWAY:-causeway}
llc=${LLC:-llc}
arch=${ARCH:-sm_70}

baseline=
if [ "${1:-}" = --baseline ]; then
    baseline=$2
    shift 2
fi
if [ $# = 0 ]; then
    echo "which files? check.sh FILE.ll…" >&2
    exit 2
fi
if ! command -v "$llc" >/dev/null; then
    if [ -z "${LLC:-}" ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        apt-get update -q >&2 && apt-get install -qy llvm >&2
    else
        echo "there is no \`$llc\`: apt-get install llvm, or say where one is: LLC=/usr/bin/llc-14" >&2
        exit 2
    fi
fi

# A pull request shows annotations; a terminal text.
format=text
if [ -n "${GITHUB_ACTIONS:-}" ]; then
    format=github
fi

made=$(mktemp -d)
trap 'rm -r "$made"' EXIT

# 0: nothing was lost. 1: something was. 2: unreadable. 4: something was not judged, which is no success; to
# accept what is known not to be, use --baseline. The worst of all files counts.
worst=0
note() {
    case "$1,$worst" in
    0,* | 4,1 | [14],2) ;;
    *) worst=$1 ;;
    esac
}

for file; do
    ptx=$made/$(basename "$file" .ll).ptx
    # shellcheck disable=SC2086 # flags are words
    if ! "$llc" -march=nvptx64 -mcpu="$arch" ${LLCFLAGS:-} "$file" -o "$ptx" 2>"$made/said"; then
        grep -m1 -i error "$made/said" >&2 || cat "$made/said" >&2
        echo "$file: $llc does not compile it" >&2
        note 2
        continue
    fi
    code=0
    "$causeway" lower --from "$file" --to "$ptx" --format "$format" \
        ${baseline:+--baseline "$baseline"} || code=$?
    note "$code"
done
exit "$worst"
