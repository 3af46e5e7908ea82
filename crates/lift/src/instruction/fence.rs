//! `fence`, `membar` and the proxy fences.

use model::isa::Instruction;
use model::isa::fence::{Fence, FenceOrder, ProxyFence};
use model::memory::Proxy;
use model::scope::Scope;
use ptx::fences;
use ptx::qualifier::Dialect;
use ptx::rules;
use ptx::rules::fence::FENCE_PROXY;
use ptx::shape::Opcode;

use super::InstructionReader;
use crate::cell::InstructionCell;

impl<'a> InstructionReader<'_> {
    pub(super) fn fence(&mut self, cell: &InstructionCell<'a>) -> Option<Instruction> {
        let restricted = cell.parts.iter().any(|part| {
            matches!(part.text, "mbarrier_init") || part.text.starts_with("sync_restrict::")
        });
        if cell.part(1) == "proxy" || restricted {
            if !self.is_spelled(cell) {
                return None;
            }
            return if restricted { self.async_fence(cell) } else { self.proxy_fence(cell) };
        }
        let qualifiers = match self.qualifiers(cell, rules::accepts(Opcode::Fence))? {
            Ok(qualifiers) => qualifiers,
            Err(unsupported) => return Some(unsupported),
        };
        let args = self.args(cell)?;
        self.ruled(cell, Opcode::Fence, &qualifiers, &args)?;
        ptx::meaning::fence(&qualifiers).map(Instruction::Fence)
    }

    /// Whether it is a fence of proxies, of a state space or of an operation that PTX has; otherwise an error says so.
    /// The peer dialect has fences of its own.
    fn is_spelled(&mut self, cell: &InstructionCell<'a>) -> bool {
        let parts: Vec<&str> = cell.parts.iter().skip(1).map(|part| part.text).collect();
        let incomplete = cell.parts.len() == 2;
        let known = fences::spelled(&parts).is_some();
        let of_peers = matches!(cell.part(2), "generic" | "constant" | "texture" | "surface");
        if known || incomplete || of_peers || self.draft.dialect == Dialect::Peer {
            return true;
        }
        let names: Vec<String> = fences::names().collect();
        let written: Vec<&str> = cell.parts.iter().map(|part| part.text).collect();
        let longest = |name: &&str| {
            let parts = name.split('.').zip(&written);
            parts.take_while(|(known, part)| known == *part).count()
        };
        let near = self.report.nearest(&written.join("."), names.iter().map(String::as_str));
        let near = near.or_else(|| {
            // Of several that begin alike, the first.
            names.iter().map(String::as_str).rev().max_by_key(longest)
        });
        let near = near.map(str::to_owned);
        self.report
            .error("fence-spelling", cell.name_at(), fences::UNKNOWN)
            .note(fences::EXPECTED)
            .section(FENCE_PROXY.section)
            .help_if(near.map(|near| format!("did you mean `{near}`?")));
        false
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
        let parts: Vec<&str> = cell.parts.iter().skip(1).map(|part| part.text).collect();
        let ordered = fences::spelled(&parts).map(|spelling| &spelling.parts[..]);
        let name = ordered.map_or(cell.part(2), |parts| parts[1]);
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
        let half = match ordered {
            Some(["proxy", "alias", "release", "sys"]) => Some(FenceOrder::Release),
            Some(["proxy", "alias", "acquire", "sys"]) => Some(FenceOrder::Acquire),
            _ => None,
        };
        if let Some(order) = half {
            self.no_operands(cell)?;
            return Some(Instruction::Fence(Fence { order, scope: Scope::Sys, aliases: true }));
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
