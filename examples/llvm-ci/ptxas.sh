#!/bin/sh
# The same of ptxas: PTX is assembled, and its SASS judged against it.
#
#   ptxas.sh FILE.ptx…
#
#   CAUSEWAY   the command [causeway]     PTXAS, NVDISASM   the tools [ptxas, nvdisasm]
#   ARCH       the target [sm_80]
#
# The tools are in PyPI: pip install nvidia-cuda-nvcc nvidia-cuda-nvdisasm. Without them this says that
# it skips, and succeeds.
set -eu

causeway=${CAUSEWAY:-causeway}
ptxas=${PTXAS:-ptxas}
nvdisasm=${NVDISASM:-nvdisasm}
arch=${ARCH:-sm_80}

if [ $# = 0 ]; then
    echo "which files? ptxas.sh FILE.ptx…" >&2
    exit 2
fi
for tool in "$ptxas" "$nvdisasm"; do
    if ! command -v "$tool" >/dev/null; then
        echo "skipped: there is no \`$tool\`: pip install nvidia-cuda-nvcc nvidia-cuda-nvdisasm"
        exit 0
    fi
done

made=$(mktemp -d)
trap 'rm -r "$made"' EXIT

# 0: nothing was lost. 1: something was. 2: unreadable. 4: something was not judged, which is no success; to
# accept what is known not to be, use `causeway lower --baseline`. The worst of all files counts.
worst=0
note() {
    case "$1,$worst" in
    0,* | 4,1 | [14],2) ;;
    *) worst=$1 ;;
    esac
}

for file; do
    name=$made/$(basename "$file" .ptx)
    "$ptxas" -arch="$arch" -c "$file" -o "$name.cubin"
    "$nvdisasm" "$name.cubin" >"$name.sass"
    code=0
    "$causeway" lower --from "$file" --to "$name.sass" --arch "$arch" || code=$?
    note "$code"
done
exit "$worst"
