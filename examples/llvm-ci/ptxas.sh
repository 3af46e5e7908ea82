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
worst=0
for file; do
    name=$made/$(basename "$file" .ptx)
    "$ptxas" -arch="$arch" -c "$file" -o "$name.cubin"
    "$nvdisasm" "$name.cubin" >"$name.sass"
    code=0
    "$causeway" lower --from "$file" --to "$name.sass" --arch "$arch" || code=$?
    if [ "$code" = 1 ] || [ "$code" = 2 ]; then
        worst=$code
    fi
done
exit "$worst"
