//! `fence`, `membar` and the proxy fences.

use model::isa::Instruction;
use model::isa::fence::{Fence, PROXY, ProxyFence};
use model::isa::qualifier::{Dialect, Kind};
use model::memory::Proxy;

use super::Reader;
use crate::cell::Cell;

impl<'a> Reader<'_> {
    pub(super) fn fence(&mut self, cell: &Cell<'a>) -> Option<Instruction> {
        if cell.part(1) == "proxy" {
            return self.proxy_fence(cell);
        }
        let accepts = [Kind::Order, Kind::Scope];
        let qualifiers = match self.qualifiers(cell, &accepts)? {
            Ok(qualifiers) => qualifiers,
            Err(unsupported) => return Some(unsupported),
        };
        let fence = self.ruled(cell, Fence::new(&qualifiers))?;
        self.no_operands(cell)?;
        Some(Instruction::Fence(fence))
    }

    pub(super) fn membar(&mut self, cell: &Cell<'a>) -> Option<Instruction> {
        if cell.part(1) == "proxy" {
            return self.proxy_fence(cell);
        }
        let qualifiers = match self.qualifiers(cell, &[Kind::Scope, Kind::GpuLevel])? {
            Ok(qualifiers) => qualifiers,
            Err(unsupported) => return Some(unsupported),
        };
        let fence = self.ruled(cell, Fence::membar(&qualifiers))?;
        self.no_operands(cell)?;
        Some(Instruction::Fence(fence))
    }

    fn proxy_fence(&mut self, cell: &Cell<'a>) -> Option<Instruction> {
        let name = cell.part(2);
        let proxy = match name {
            "generic" => Some(Proxy::Generic),
            "constant" => Some(Proxy::Constant),
            "texture" => Some(Proxy::Texture),
            "surface" => Some(Proxy::Surface),
            _ => None,
        };
        if name == "alias" && cell.parts.len() == 3 {
            self.no_operands(cell)?;
            return Some(Instruction::ProxyFence(ProxyFence::Alias));
        }
        if let Some(proxy) = proxy
            && cell.parts.len() == 3
        {
            if self.draft.dialect == Dialect::Ptx {
                let parts = [cell.opcode(), "proxy", "alias"];
                let help = cell.with_parts(&parts);
                self.broken(&PROXY, cell.part_at(2), "not in PTX".into(), help);
                return None;
            }
            self.no_operands(cell)?;
            return Some(Instruction::ProxyFence(ProxyFence::Proxy(proxy)));
        }
        if name == "alias" || name.starts_with("async") || name.contains("::") {
            return Some(Self::unsupported(cell, "this proxy is not modelled"));
        }
        let help = cell.with_parts(&[cell.opcode(), "proxy", "alias"]);
        self.report
            .error("fence-proxy", cell.part_at(2), "a proxy fence names the proxies it orders")
            .section(PROXY.section)
            .help(help);
        None
    }
}
