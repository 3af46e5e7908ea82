//! `fence`, `membar` and the proxy fences.

use model::isa::Instruction;
use model::isa::fence::ProxyFence;
use model::memory::Proxy;
use ptx::qualifier::Dialect;
use ptx::rules;
use ptx::rules::fence::FENCE_PROXY;
use ptx::shape::Opcode;

use super::InstructionReader;
use crate::cell::InstructionCell;

impl<'a> InstructionReader<'_> {
    pub(super) fn fence(&mut self, cell: &InstructionCell<'a>) -> Option<Instruction> {
        if cell.part(1) == "proxy" {
            return self.proxy_fence(cell);
        }
        if cell.part(1) == "mbarrier_init" || cell.part(2).starts_with("sync_restrict") {
            return self.async_fence(cell);
        }
        let qualifiers = match self.qualifiers(cell, rules::accepts(Opcode::Fence))? {
            Ok(qualifiers) => qualifiers,
            Err(unsupported) => return Some(unsupported),
        };
        let args = self.args(cell)?;
        self.ruled(cell, Opcode::Fence, &qualifiers, &args)?;
        ptx::meaning::fence(&qualifiers).map(Instruction::Fence)
    }

    pub(super) fn membar(&mut self, cell: &InstructionCell<'a>) -> Option<Instruction> {
        if cell.part(1) == "proxy" {
            return self.proxy_fence(cell);
        }
        let qualifiers = match self.qualifiers(cell, rules::accepts(Opcode::Membar))? {
            Ok(qualifiers) => qualifiers,
            Err(unsupported) => return Some(unsupported),
        };
        let args = self.args(cell)?;
        self.ruled(cell, Opcode::Membar, &qualifiers, &args)?;
        ptx::meaning::membar(&qualifiers).map(Instruction::Fence)
    }

    fn proxy_fence(&mut self, cell: &InstructionCell<'a>) -> Option<Instruction> {
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
                self.broken(&FENCE_PROXY, cell.part_at(2), "not in PTX".into(), help);
                return None;
            }
            self.no_operands(cell)?;
            return Some(Instruction::ProxyFence(ProxyFence::Proxy(proxy)));
        }
        if name.starts_with("async") || name == "tensormap::generic" {
            return self.async_fence(cell);
        }
        if name == "alias" || name.contains("::") {
            return Some(Self::unsupported(cell, "this proxy is not modelled"));
        }
        let help = cell.with_parts(&[cell.opcode(), "proxy", "alias"]);
        self.report
            .error(
                "fence-proxy",
                cell.part_at(2),
                "a proxy fence requires the proxies that it orders",
            )
            .section(FENCE_PROXY.section)
            .help(help);
        None
    }
}
