//! Descriptions of steps.

use super::form::{AccessLevel, MachineOp};
use super::{Machine, MemoryPlace, Step};

impl Machine<'_> {
    /// A step in words.
    pub fn describe(&self, step: Step) -> String {
        let thread = |t: u8| &self.program.threads[usize::from(t)];
        let name = |t: u8| thread(t).name.as_str();
        let text = |t: u8, line: u16| thread(t).lines[usize::from(line)].text.as_str();
        let sm = |t: u8| self.sm[usize::from(t)];
        let gpu = |t: u8| self.gpu[usize::from(sm(t))];
        let cell = |c: u8| {
            let cell = self.cells[usize::from(c)];
            let of = &self.layout.locations[usize::from(cell.location)];
            let variable = &self.program.variables[usize::from(of.variable.0)].name;
            if cell.start == 0 { variable.clone() } else { format!("{variable}+{}", cell.start) }
        };
        match step {
            Step::Issue { thread: t, line, hit: false } => {
                format!("{} issues {}", name(t), text(t, line))
            }
            Step::Issue { thread: t, line, hit: true } => {
                let forms = &self.lowered[usize::from(t)][usize::from(line)].forms;
                let who = if forms.contains(&MachineOp::Access(AccessLevel::ReadOnly)) {
                    format!("the read-only path of sm{}", sm(t))
                } else if self.options.store_buffers {
                    format!("its store buffer or L1[sm{}]", sm(t))
                } else {
                    format!("L1[sm{}]", sm(t))
                };
                format!("{} issues {}: {who} answers", name(t), text(t, line))
            }
            Step::Fence { thread: t, line } => format!("{} fences: {}", name(t), text(t, line)),
            Step::Meet { thread: t, line } => format!("{} arrives: {}", name(t), text(t, line)),
            Step::Through { thread: t, line } => {
                format!("{} completes {}", name(t), text(t, line))
            }
            Step::Drain { thread: t, cell: c } => {
                format!("{}'s store to {} leaves its buffer", name(t), cell(c))
            }
            Step::Perform { thread: t, cell: c } => {
                let at = match self.cells[usize::from(c)].place {
                    MemoryPlace::Shared { sm, .. } => format!("in the shared memory of sm{sm}"),
                    MemoryPlace::Global(_) | MemoryPlace::Private => "at L2".to_owned(),
                };
                format!("{}'s access to {} performs {at}", name(t), cell(c))
            }
            Step::Leave { thread: t, cell: c } => {
                format!("{}'s access to {} leaves its SM", name(t), cell(c))
            }
            Step::Forward { thread: t, cell: c } => format!(
                "{}'s load of {} is answered by a store in the link of GPU {}",
                name(t),
                cell(c),
                gpu(t)
            ),
            Step::Copy { thread: t, cell: c } => format!(
                "{}'s load of {} is answered by the copy in GPU {}",
                name(t),
                cell(c),
                gpu(t)
            ),
            Step::Arrive { thread: t, cell: c } => {
                format!("{}'s access to {} performs at its home", name(t), cell(c))
            }
            Step::ReadOnly { thread: t, cell: c } => {
                format!("{}'s load of {} fills the read-only path of sm{}", name(t), cell(c), sm(t))
            }
            Step::Return { thread: t, cell: c, fills: true } => {
                format!("{}'s load of {} returns and fills L1[sm{}]", name(t), cell(c), sm(t))
            }
            Step::Return { thread: t, cell: c, fills: false } => {
                format!("{}'s load of {} returns", name(t), cell(c))
            }
            Step::Test { thread: t, line, complete } => {
                let result = if complete { "true" } else { "false" };
                format!("{} issues {}: {result}", name(t), text(t, line))
            }
            Step::CopyReads { thread: t, site } => {
                format!("{}'s copy reads: {}", name(t), text(t, self.line_of_site(t, site)))
            }
            Step::CopyWrites { thread: t, site } => {
                format!("{}'s copy writes: {}", name(t), text(t, self.line_of_site(t, site)))
            }
            Step::Track { thread: t, site } => {
                format!("{}'s copies arrive: {}", name(t), text(t, self.line_of_site(t, site)))
            }
        }
    }
}
