//! Tests of the suite that are part of the program, for people to begin with.

/// A test of the suite.
#[derive(Clone, Copy, Debug)]
pub struct ExampleTest {
    pub name: &'static str,
    /// The text of its file.
    pub text: &'static str,
}

macro_rules! examples {
    ($folder:literal: $($name:literal)*) => {
        &[$(ExampleTest {
            name: $name,
            text: include_str!(concat!("../suite/", $folder, "/", $name, ".litmus")),
        }),*]
    };
}

/// The tests of the document.
pub const DOCUMENT: &[ExampleTest] = examples!("document":
    "MP"
    "MP+atom"
    "MP+red"
    "Atom-1"
    "Atom-2"
    "Atom-2+one"
    "Atom-2+two"
    "CoRR"
    "CoWR+alias"
    "LB"
    "LB+deps"
    "SB"
    "SB+fence.acq_rel");

/// Mistakes of real projects, each followed by its correction.
pub const GALLERY: &[ExampleTest] = examples!("gallery":
    "A1-llvm-atomicrmw"
    "A1-llvm-atomicrmw+fixed"
    "A2-llvm-exchange-lock"
    "A2-llvm-exchange-lock+fixed"
    "A5-llvm-cmpxchg-sm60"
    "A5-llvm-cmpxchg-sm60+fixed"
    "A10-llvm-volatile-as-nc"
    "A10-llvm-volatile-as-nc+fixed"
    "B1-vllm-all-reduce"
    "B1-vllm-all-reduce+fixed"
    "B3-aiter-device-scope"
    "B3-aiter-device-scope+fixed"
    "B4-pytorch-last-block"
    "B4-pytorch-last-block+fixed"
    "B5-mscclpp-device-syncer"
    "B5-mscclpp-device-syncer+fixed"
    "B12-tensorrt-llm-counter"
    "B12-tensorrt-llm-counter+fixed"
    "B14-pytorch-signal-pad"
    "B14-pytorch-signal-pad+fixed"
    "B20-ucx-doorbell"
    "B20-ucx-doorbell+fixed"
    "cccl-pdl-read"
    "cccl-pdl-read+fixed"
    "cutlass-remote-arrive"
    "cutlass-remote-arrive+fixed"
    "deepep-tma-load"
    "deepep-tma-load+fixed"
    "fuser-tma-store"
    "fuser-tma-store+fixed"
    "triton-pipeline"
    "triton-pipeline+fixed");
