//! `fence`, `membar` and the proxy fences.

use crate::memory::Proxy;
use crate::scope::Scope;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FenceOrder {
    /// From PTX ISA 8.6, as is release.
    Acquire,
    Release,
    AcqRel,
    /// Also what `membar` means from `sm_70`.
    Sc,
}

impl FenceOrder {
    /// As PTX spells it, without the dot.
    pub fn name(self) -> &'static str {
        match self {
            FenceOrder::Acquire => "acquire",
            FenceOrder::Release => "release",
            FenceOrder::AcqRel => "acq_rel",
            FenceOrder::Sc => "sc",
        }
    }
}

/// A memory fence.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Fence {
    pub order: FenceOrder,
    pub scope: Scope,
    /// Whether it is a half of the fence of aliases: `fence.proxy.alias.release.sys` and `.acquire.sys`.
    pub aliases: bool,
}

/// A bi-directional proxy fence.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ProxyFence {
    /// `fence.proxy.alias`.
    Alias,
    /// Of the peer dialect only: `fence.proxy.{generic,texture,surface,constant}`.
    Proxy(Proxy),
}
