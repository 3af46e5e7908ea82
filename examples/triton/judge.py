#!/usr/bin/env python3
"""Judges what Triton and ptxas make of a kernel, without a GPU: LLVM IR -> PTX, and PTX -> SASS.

Usage: judge.py [--arch sm_90] [--causeway PATH] [--nvdisasm PATH]

The exit code is that of `causeway lower`, the greater of both steps: 0 if nothing is weaker, 1 if something is, 2 if a file
cannot be read, 4 if a kernel was not judged. To judge kernels of your own, call `judge` with them.
"""
import argparse, os, subprocess, sys, tempfile

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def publish(data, flag, value):
    """Writes a message and raises a flag."""
    tl.store(data, value)
    tl.debug_barrier()
    tl.atomic_xchg(flag, 1, sem="release", scope="gpu")


@triton.jit
def consume(data, flag, out):
    """Waits for the flag and reads the message."""
    while tl.atomic_add(flag, 0, sem="acquire", scope="gpu") == 0:
        pass
    tl.debug_barrier()
    tl.store(out, tl.load(data))


def compiled(kernel, signature, arch, constants=None):
    """What each stage of Triton made: `llir`, `ptx`, `cubin`. `signature`: the type of each parameter, such as `*i32`."""
    constants = constants or {}
    types = {name: "constexpr" if name in constants else signature[name] for name in kernel.arg_names}
    source = ASTSource(fn=kernel, signature=types, constexprs=constants)
    return triton.compile(source, target=GPUTarget("cuda", int(arch.removeprefix("sm_")), 32)).asm


def judge(asm, name, options):
    """Runs `causeway lower` on both steps. Returns the greater exit code."""
    with tempfile.TemporaryDirectory() as folder:
        at = lambda ending: os.path.join(folder, name + ending)
        for ending, kind in [(".ll", "llir"), (".ptx", "ptx")]:
            with open(at(ending), "w") as out:
                out.write(asm[kind])
        with open(at(".cubin"), "wb") as out:
            out.write(asm["cubin"])
        with open(at(".sass"), "w") as out:
            subprocess.run([options.nvdisasm, at(".cubin")], stdout=out, check=True)
        code = 0
        for source, target in [(".ll", ".ptx"), (".ptx", ".sass")]:
            print(f"{name}: {source} -> {target}", flush=True)
            command = [options.causeway, "lower", "--from", at(source), "--to", at(target)]
            code = max(code, subprocess.run(command).returncode)
        return code


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--causeway", default="causeway")
    parser.add_argument("--nvdisasm", default="nvdisasm")
    options = parser.parse_args()
    pointers = {"data": "*i32", "flag": "*i32", "out": "*i32", "value": "i32"}
    codes = [
        judge(compiled(kernel, pointers, options.arch), kernel.__name__, options) for kernel in (publish, consume)
    ]
    sys.exit(max(codes))


if __name__ == "__main__":
    main()
