//! Reads the text of a test. Anything outside the subset is an error that names it.

use std::collections::BTreeMap;

use super::observe;
use super::read::{
    Action, Cell, Copy, Declared, Destination, Line, Operand, Placement, Program, Scope, Sem,
    Space, Step, Tracking, Window,
};

/// A variable of the initial state.
struct Variable {
    name: String,
    space: Space,
    initial: Vec<u64>,
    /// For an mbarrier object.
    object: Option<Declared>,
}

/// The first cell of a variable in one CTA, for each CTA; global memory is that of CTA 0.
pub(super) struct Layout {
    variables: Vec<Variable>,
    first: BTreeMap<(String, usize), usize>,
}

/// What the initial state of a register is.
#[derive(Clone)]
enum Initial {
    Number(u64),
    /// The first cell of a variable.
    Address(usize),
}

type Registers = BTreeMap<(usize, String), Initial>;

/// One instruction: its label, guard, parts of the opcode and operands.
struct Instruction {
    label: Option<String>,
    guard: Option<(String, bool)>,
    opcode: Vec<String>,
    operands: Vec<String>,
}

pub(super) fn unsupported<T>(what: &str) -> Result<T, String> {
    Err(format!("`{}`", what.trim()))
}

pub(super) fn program(text: &str) -> Result<Program, String> {
    let text = without_comments(text);
    let (header, rest) = text.split_once('{').ok_or("no initial state")?;
    if !header.trim_start().starts_with("PTX") || header.contains("Dialect=") {
        return unsupported(header.lines().next().unwrap_or_default());
    }
    let (initial, rest) = rest.split_once("\n}").ok_or("no end of the initial state")?;
    let (table, conditions) = rest.split_at(observe::end_of_table(rest));
    let mut rows = table.lines().filter(|row| !row.trim().is_empty());
    let threads = placements(rows.next().ok_or("no threads")?)?;
    let columns = columns(rows, threads.len())?;
    let mut program = Program { threads, ..Program::default() };
    let entries: Vec<&str> = initial.split(';').map(str::trim).filter(|e| !e.is_empty()).collect();
    let layout = layout(&mut program, &entries)?;
    let registers = registers(&program, &layout, &entries)?;
    for (place, initial) in &registers {
        if let Initial::Number(number) = initial {
            program.registers.insert(place.clone(), *number);
        }
    }
    for (thread, column) in columns.iter().enumerate() {
        let reader = Reader { program: &program, layout: &layout, registers: &registers, thread };
        let column = reader.column(column)?;
        program.columns.push(column);
    }
    observe::observe(&mut program, &layout, conditions)?;
    Ok(program)
}

fn without_comments(text: &str) -> String {
    let mut kept = String::new();
    let mut depth = 0_usize;
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        if rest.starts_with("(*") {
            depth += 1;
            rest = &rest[2..];
        } else if depth > 0 && rest.starts_with("*)") {
            depth -= 1;
            rest = &rest[2..];
        } else {
            if depth == 0 {
                kept.push(character);
            }
            rest = &rest[character.len_utf8()..];
        }
    }
    kept
}

/// CTAs are numbered densely; without a cluster each is a cluster of its own.
fn placements(row: &str) -> Result<Vec<Placement>, String> {
    let mut ctas: Vec<(u64, Option<u64>, u64)> = Vec::new();
    let mut clusters = Vec::new();
    let mut threads = Vec::new();
    let mut warps = Vec::new();
    for (number, cell) in row.trim().trim_end_matches(';').split('|').enumerate() {
        let (name, places) = cell.trim().split_once('@').ok_or("no placement")?;
        if name.trim_start_matches('P') != number.to_string() {
            return unsupported(cell);
        }
        let (mut cta, mut cluster, mut gpu, mut warp) = (0, None, 0, None);
        for place in places.split(',') {
            let (level, number) = place.trim().split_once(' ').ok_or("no number in a placement")?;
            let number: u64 = number.trim().parse().map_err(|_| "no number in a placement")?;
            match level {
                "cta" => cta = number,
                "cluster" => cluster = Some(number),
                "gpu" => gpu = number,
                "warp" => warp = Some(number),
                _ => return unsupported(place),
            }
        }
        let cta = index_of(&mut ctas, (cta, cluster, gpu));
        if let Some(warp) = warp {
            if warps.contains(&(warp, cta, cluster)) {
                return unsupported("threads of one warp");
            }
            warps.push((warp, cta, cluster));
        }
        let alone = if cluster.is_some() { 0 } else { cta + 1 };
        let cluster = index_of(&mut clusters, (cluster, alone, gpu));
        let gpu = usize::try_from(gpu).map_err(|_| "a number too large")?;
        threads.push(Placement { cta, cluster, gpu });
    }
    Ok(threads)
}

fn index_of<T: PartialEq>(all: &mut Vec<T>, item: T) -> usize {
    all.iter().position(|other| *other == item).unwrap_or_else(|| {
        all.push(item);
        all.len() - 1
    })
}

fn columns<'a>(
    rows: impl Iterator<Item = &'a str>,
    threads: usize,
) -> Result<Vec<Vec<Instruction>>, String> {
    let mut columns: Vec<Vec<Instruction>> = (0..threads).map(|_| Vec::new()).collect();
    for row in rows {
        for (thread, cell) in row.trim().trim_end_matches(';').split('|').enumerate() {
            let cell = cell.trim();
            if !cell.is_empty() {
                columns.get_mut(thread).ok_or("more cells than threads")?.push(instruction(cell));
            }
        }
    }
    Ok(columns)
}

fn instruction(cell: &str) -> Instruction {
    let mut rest = cell;
    let mut label = None;
    if let Some((name, after)) = rest.split_once(':')
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
        && !after.starts_with(':')
    {
        label = Some(name.to_owned());
        rest = after.trim();
    }
    let mut guard = None;
    if let Some(after) = rest.strip_prefix('@') {
        let (name, after) = after.split_once(' ').unwrap_or((after, ""));
        guard = Some((name.trim_start_matches('!').to_owned(), !name.starts_with('!')));
        rest = after.trim();
    }
    let (opcode, operands) = rest.split_once(' ').unwrap_or((rest, ""));
    Instruction {
        label,
        guard,
        opcode: opcode.split('.').map(str::to_owned).collect(),
        operands: operands
            .split(',')
            .map(|o| o.trim().to_owned())
            .filter(|o| !o.is_empty())
            .collect(),
    }
}

pub(super) fn number(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| format!("`{text}`"))
}

/// A value of memory. Bytes of racing accesses may mix (reading R27), which values of one byte cannot show.
fn small(text: &str) -> Result<u64, String> {
    number(text).and_then(|number| {
        if number < 256 { Ok(number) } else { unsupported("a value that can be torn") }
    })
}

fn signed(text: &str) -> Result<i64, String> {
    text.trim().parse().map_err(|_| format!("`{text}`"))
}

/// Whether an entry is about a register of a thread: its thread, and the rest.
pub(super) fn of_thread(entry: &str) -> Option<(usize, &str)> {
    let (thread, rest) = entry.split_once(':')?;
    let thread = thread.trim().trim_start_matches('P').parse().ok()?;
    Some((thread, rest.trim()))
}

fn variable(entry: &str) -> Result<Variable, String> {
    let (left, right) = entry.split_once('=').map_or((entry, None), |(l, r)| (l, Some(r.trim())));
    let mut words: Vec<&str> = left.split_whitespace().collect();
    let name = words.pop().ok_or("no name")?;
    let (mut space, mut object) = (Space::Global, false);
    let mut skip = false;
    for word in words {
        match word {
            _ if skip => skip = false,
            ".global" | ".u32" | ".b32" | ".s32" | "int" | "uint32_t" => {}
            ".shared" => space = Space::Shared,
            ".mbarrier" => object = true,
            ".align" => skip = true,
            _ => return unsupported(entry),
        }
    }
    let values: Vec<&str> = right
        .map(|list| list.trim_matches(['{', '}', ' ']).split(',').map(str::trim).collect())
        .unwrap_or_default();
    let (name, length) = match name.split_once('[') {
        Some((name, length)) => (name, number(length.trim_end_matches(']'))?),
        None => (name, if object { 2 } else { 1 }),
    };
    if !name.chars().all(|c| c.is_alphanumeric() || c == '_') {
        return unsupported(entry);
    }
    let length = usize::try_from(length).map_err(|_| "too many elements")?;
    let object = if object {
        let mut values = values.iter().map(|value| signed(value)).collect::<Result<Vec<_>, _>>()?;
        let declared = !values.is_empty();
        values.resize(3, 0);
        Some(declared.then_some((values[0], values[1], values[2])))
    } else {
        None
    };
    let mut initial = match object {
        None => values.iter().map(|value| small(value)).collect::<Result<Vec<_>, _>>()?,
        Some(_) => Vec::new(),
    };
    initial.resize(length, 0);
    Ok(Variable { name: name.to_owned(), space, initial, object })
}

fn layout(program: &mut Program, entries: &[&str]) -> Result<Layout, String> {
    let mut layout = Layout { variables: Vec::new(), first: BTreeMap::new() };
    let ctas = program.threads.iter().map(|place| place.cta + 1).max().unwrap_or(1);
    for entry in entries.iter().filter(|entry| of_thread(entry).is_none()) {
        let variable = variable(entry)?;
        let copies = if variable.space == Space::Shared { ctas } else { 1 };
        for cta in 0..copies {
            layout.first.insert((variable.name.clone(), cta), program.cells.len());
            let object = variable.object.map(|declared| {
                program.objects.push(declared);
                program.objects.len() - 1
            });
            for &initial in &variable.initial {
                program.cells.push(Cell { space: variable.space, cta, initial, object });
            }
        }
        layout.variables.push(variable);
    }
    Ok(layout)
}

impl Layout {
    fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|variable| variable.name == name)
    }

    /// The first cell of the variable in a CTA.
    pub(super) fn at(&self, name: &str, cta: usize) -> Option<usize> {
        let shared = self.variable(name)?.space == Space::Shared;
        self.first.get(&(name.to_owned(), if shared { cta } else { 0 })).copied()
    }
}

fn registers(program: &Program, layout: &Layout, entries: &[&str]) -> Result<Registers, String> {
    let mut registers = Registers::new();
    for (entry, (thread, rest)) in entries.iter().filter_map(|e| Some((e, of_thread(e)?))) {
        let (name, value) = rest.split_once('=').ok_or_else(|| format!("`{entry}`"))?;
        let (value, of) = value.split_once('@').map_or((value, None), |(v, of)| (v, Some(of)));
        let of = match of {
            Some(of) => {
                of.trim().trim_start_matches('P').parse().map_err(|_| format!("`{entry}`"))?
            }
            None => thread,
        };
        let cta = program.threads.get(of).ok_or("no such thread")?.cta;
        let initial = match layout.at(value.trim(), cta) {
            Some(cell) => Initial::Address(cell),
            None => Initial::Number(small(value)?),
        };
        registers.insert((thread, name.trim().to_owned()), initial);
    }
    Ok(registers)
}

/// Reads the instructions of one thread.
struct Reader<'a> {
    program: &'a Program,
    layout: &'a Layout,
    registers: &'a Registers,
    thread: usize,
}

impl Reader<'_> {
    fn column(&self, column: &[Instruction]) -> Result<Vec<Line>, String> {
        let mut lines: Vec<Line> = Vec::new();
        let mut labels: BTreeMap<&str, usize> = BTreeMap::new();
        for instruction in column {
            if let Some(label) = &instruction.label {
                labels.insert(label, lines.len());
            }
            if instruction.opcode[0] == "bra" {
                let target = instruction.operands.first().and_then(|t| labels.get(t.as_str()));
                let start = *target.ok_or("a branch that is not a loop")?;
                let (name, again) =
                    instruction.guard.clone().ok_or("a loop without a condition")?;
                close_loop(&mut lines[start..], &name, again)?;
            } else if !instruction.opcode[0].is_empty() {
                lines
                    .push(Line { guard: instruction.guard.clone(), step: self.step(instruction)? });
            }
        }
        Ok(lines)
    }

    fn step(&self, instruction: &Instruction) -> Result<Step, String> {
        let opcode: Vec<&str> = instruction.opcode.iter().map(String::as_str).collect();
        let operands = &instruction.operands[..];
        let whole = || format!("{} {}", opcode.join("."), operands.join(", "));
        let step = match opcode[..] {
            ["ld" | "st", ..] => self.access(&opcode, operands),
            ["setp", how @ ("eq" | "ne"), "u32" | "s32" | "b32"] => {
                self.compare(how == "eq", operands)
            }
            ["fence", "proxy", "async"] => Some(Step::FenceProxy(Window::All)),
            ["fence", "proxy", "async", window] => proxy_window(window).map(Step::FenceProxy),
            ["fence", "mbarrier_init", "release", "cluster"] => Some(Step::FenceInit),
            ["fence", ref how @ ..] => fence(how),
            ["membar", "cta"] => Some(Step::Fence { sem: Sem::Sequential, scope: Scope::Cta }),
            ["membar", "gl"] => Some(Step::Fence { sem: Sem::Sequential, scope: Scope::Gpu }),
            ["membar", "sys"] => Some(Step::Fence { sem: Sem::Sequential, scope: Scope::Sys }),
            ["bar" | "barrier", "sync"] | ["bar" | "barrier", "cta", "sync"] => {
                if operands.len() == 1 {
                    number(&operands[0]).ok().map(Step::Barrier)
                } else {
                    None
                }
            }
            ["barrier", "cluster", "arrive", ref how @ ..] => cluster_arrive(how),
            ["barrier", "cluster", "wait", ..] => Some(Step::ClusterWait),
            ["cp", "async", ref how @ ..] => self.cp_async(how, operands),
            ["mbarrier", what, ref how @ ..] => self.object(what, how, operands),
            _ => None,
        };
        step.ok_or_else(|| format!("`{}`", whole()))
    }

    /// The cell of `[x]`, `[x+4]`, `[r]` or `[r+4]`.
    fn address(&self, operand: &str) -> Option<usize> {
        let inner = operand.strip_prefix('[')?.strip_suffix(']')?;
        let (name, offset) = match inner.split_once('+') {
            Some((name, offset)) => (name.trim(), number(offset).ok()?),
            None => (inner.trim(), 0),
        };
        let cta = self.program.threads[self.thread].cta;
        let first = match self.layout.at(name, cta) {
            Some(first) => first,
            None => match self.registers.get(&(self.thread, name.to_owned()))? {
                Initial::Address(first) => *first,
                Initial::Number(_) => return None,
            },
        };
        (offset % 4 == 0).then_some(())?;
        Some(first + usize::try_from(offset / 4).ok()?)
    }

    fn address_of_object(&self, operand: &str) -> Option<usize> {
        self.program.cells.get(self.address(operand)?)?.object
    }

    /// A number, or a register that the initial state sets.
    fn constant(&self, operand: &str) -> Option<u64> {
        if let Ok(number) = number(operand) {
            return Some(number);
        }
        match self.registers.get(&(self.thread, operand.to_owned()))? {
            Initial::Number(number) => Some(*number),
            Initial::Address(_) => None,
        }
    }

    fn access(&self, opcode: &[&str], operands: &[String]) -> Option<Step> {
        if opcode[1] == "async" {
            return self.store_async(&opcode[2..], operands);
        }
        let (mut sem, mut scope) = (Sem::Weak, Scope::Sys);
        for part in &opcode[1..] {
            match *part {
                "weak" | "global" | "shared" | "shared::cta" | "shared::cluster" | "u32"
                | "b32" | "s32" => {}
                "relaxed" | "volatile" => sem = Sem::Relaxed,
                "acquire" => sem = Sem::Acquire,
                "release" => sem = Sem::Release,
                other => scope = scope_of(other)?,
            }
        }
        let [left, right] = operands else { return None };
        let cell = self.address(if opcode[0] == "ld" { right } else { left })?;
        // A variable whose space follows from its accesses is outside the subset.
        let names_shared = opcode.iter().any(|part| part.starts_with("shared"));
        let shared = self.program.cells[cell].space == Space::Shared;
        (!names_shared || shared).then_some(())?;
        if opcode[0] == "ld" {
            return Some(Step::Load { cell, sem, scope, register: left.clone() });
        }
        let value = match number(right) {
            Ok(number) if number > 255 => return None,
            Ok(number) => Operand::Number(number),
            Err(_) => Operand::Register(right.clone()),
        };
        Some(Step::Store { cell, sem, scope, value })
    }

    fn store_async(&self, how: &[&str], operands: &[String]) -> Option<Step> {
        let how: Vec<&&str> = how.iter().filter(|part| **part != "weak").collect();
        let ["shared::cluster", "mbarrier::complete_tx::bytes", "u32" | "b32" | "s32"] =
            how.iter().map(|part| **part).collect::<Vec<_>>()[..]
        else {
            return None;
        };
        let [to, value, object] = operands else {
            return None;
        };
        let to = Destination {
            cells: vec![self.address(to)?],
            object: Some(self.address_of_object(object)?),
        };
        Some(Step::Copy(Copy {
            from: Vec::new(),
            to: vec![to],
            rest: self.constant(value)?,
            bytes: 4,
            async_proxy: false,
            tracking: Tracking::Object,
        }))
    }

    fn compare(&self, equal: bool, operands: &[String]) -> Option<Step> {
        let [register, left, right] = operands else {
            return None;
        };
        let number = self.constant(right)?;
        let (register, left) = (register.clone(), left.clone());
        Some(Step::Compare { register, left, number, equal, exits: None })
    }

    /// The cells of this many bytes.
    fn range(&self, operand: &str, bytes: u64) -> Option<Vec<usize>> {
        let first = self.address(operand)?;
        let end = first + usize::try_from(bytes / 4).ok()?;
        // Copies beyond the end of a variable are outside the subset.
        let inside = |&start: &usize| start <= first || start >= end;
        let fits = end <= self.program.cells.len() && self.layout.first.values().all(inside);
        fits.then(|| (first..end).collect())
    }

    fn cp_async(&self, how: &[&str], operands: &[String]) -> Option<Step> {
        let one = |number: &dyn Fn(usize) -> Step| match operands {
            [operand] => Some(number(operand.parse().ok()?)),
            _ => None,
        };
        match how {
            ["commit_group"] => Some(Step::Commit),
            ["wait_group"] => one(&Step::WaitGroup),
            ["wait_all"] => Some(Step::WaitAll),
            ["mbarrier", "arrive", how @ ..] => {
                let counted = !how.contains(&"noinc");
                Some(Step::Track { object: self.address_of_object(operands.first()?)?, counted })
            }
            ["bulk", "commit_group"] => Some(Step::BulkCommit),
            ["bulk", "wait_group"] => {
                one(&|number| Step::BulkWaitGroup { number, reads_only: false })
            }
            ["bulk", "wait_group", "read"] => {
                one(&|number| Step::BulkWaitGroup { number, reads_only: true })
            }
            ["bulk", how @ ..] => self.bulk(how, operands),
            ["ca" | "cg", "shared" | "shared::cta", "global"] => self.small(operands),
            _ => None,
        }
    }

    fn small(&self, operands: &[String]) -> Option<Step> {
        let (to, from, size, source) = match operands {
            [to, from, size] => (to, from, number(size).ok()?, number(size).ok()?),
            [to, from, size, source] => (to, from, number(size).ok()?, self.constant(source)?),
            _ => return None,
        };
        ([4, 8, 16].contains(&size) && source <= size && source % 4 == 0).then_some(())?;
        Some(Step::Copy(Copy {
            from: self.range(from, source)?,
            to: vec![Destination { cells: self.range(to, size)?, object: None }],
            rest: 0,
            bytes: i64::try_from(size).ok()?,
            async_proxy: false,
            tracking: Tracking::CpAsyncGroup,
        }))
    }

    fn bulk(&self, how: &[&str], operands: &[String]) -> Option<Step> {
        let (how, mask) = match how {
            [how @ .., "multicast::cluster"] => (how, Some(self.constant(operands.get(4)?)?)),
            _ => (how, None),
        };
        let [_, _, completion] = how else { return None };
        let (to, from) = (operands.first()?, operands.get(1)?);
        let bytes = self.constant(operands.get(2)?)?;
        (bytes % 16 == 0 && bytes > 0).then_some(())?;
        let tracking = match *completion {
            "bulk_group" if operands.len() == 3 => Tracking::BulkGroup,
            "mbarrier::complete_tx::bytes" => Tracking::Object,
            _ => return None,
        };
        let object = match tracking {
            Tracking::Object => Some(operands.get(3)?),
            _ => None,
        };
        let to = match mask {
            None => vec![Destination {
                cells: self.range(to, bytes)?,
                object: object
                    .map(|object| self.address_of_object(object).ok_or(()))
                    .transpose()
                    .ok()?,
            }],
            Some(mask) => self.multicast(to, object?, bytes, mask)?,
        };
        Some(Step::Copy(Copy {
            from: self.range(from, bytes)?,
            to,
            rest: 0,
            bytes: i64::try_from(bytes).ok()?,
            async_proxy: true,
            tracking,
        }))
    }

    /// The same offsets in each CTA of the mask; CTAs have ranks in the order of their numbers.
    fn multicast(&self, to: &str, object: &str, bytes: u64, mask: u64) -> Option<Vec<Destination>> {
        let own = self.program.threads[self.thread].cluster;
        let of_cluster = self.program.threads.iter().filter(|place| place.cluster == own);
        let mut ctas: Vec<usize> = of_cluster.map(|place| place.cta).collect();
        ctas.sort_unstable();
        ctas.dedup();
        let name = |operand: &str| operand.trim_matches(['[', ']']).to_owned();
        let words = usize::try_from(bytes / 4).ok()?;
        let mut all = Vec::new();
        for (rank, &cta) in ctas.iter().enumerate() {
            if mask >> rank & 1 == 1 {
                self.range(to, bytes)?;
                let first = self.layout.at(&name(to), cta)?;
                let object = self.program.cells[self.layout.at(&name(object), cta)?].object;
                all.push(Destination { cells: (first..first + words).collect(), object });
            }
        }
        Some(all)
    }

    fn object(&self, what: &str, how: &[&str], operands: &[String]) -> Option<Step> {
        let wait = matches!(what, "test_wait" | "try_wait");
        let (mut sem, mut scope) = (if wait { Sem::Acquire } else { Sem::Release }, Scope::Cta);
        let (mut expects, mut by_parity) = (false, false);
        for part in how {
            match *part {
                "b64" | "shared" | "shared::cta" | "shared::cluster" => {}
                "parity" => by_parity = true,
                "expect_tx" => expects = true,
                "relaxed" => sem = Sem::Relaxed,
                "acquire" => sem = Sem::Acquire,
                "release" => sem = Sem::Release,
                other => scope = scope_of(other)?,
            }
        }
        (wait == by_parity).then_some(())?;
        let takes_register = wait || what.starts_with("arrive");
        let bracketed = usize::from(takes_register && !operands.first()?.starts_with('['));
        let register = if bracketed == 1 { operands[0].clone() } else { "_".to_owned() };
        let object = self.address_of_object(operands.get(bracketed)?)?;
        let last = match operands.get(bracketed + 1) {
            Some(operand) => Some(i64::try_from(self.constant(operand)?).ok()?),
            None => None,
        };
        let action = match (what, last) {
            ("init", Some(count)) => Action::Init(count),
            ("inval", None) => Action::Inval,
            ("expect_tx", Some(bytes)) => Action::ExpectTx(bytes),
            ("complete_tx", Some(bytes)) => Action::CompleteTx(bytes),
            ("arrive", Some(expect)) if expects => Action::Arrive { count: 1, expect },
            ("arrive", count) if !expects => {
                Action::Arrive { count: count.unwrap_or(1), expect: 0 }
            }
            ("arrive_drop", count) if !expects => Action::ArriveDrop(count.unwrap_or(1)),
            ("test_wait" | "try_wait", Some(parity @ (0 | 1))) => {
                Action::Wait { parity, test: what == "test_wait" }
            }
            _ => return None,
        };
        let relaxed = !wait && !what.starts_with("arrive");
        let sem = if relaxed { Sem::Relaxed } else { sem };
        Some(Step::Object { object, action, sem, scope, register, blocks: false })
    }
}

/// The steps of a loop that ends with a jump back while the predicate has the value `again`.
fn close_loop(body: &mut [Line], name: &str, again: bool) -> Result<(), String> {
    if body.iter().any(|line| line.guard.is_some()) {
        return unsupported("a loop with guards");
    }
    match body {
        [
            Line {
                step: Step::Object { action: Action::Wait { .. }, register, blocks, .. }, ..
            },
        ] if register == name && !again => {
            *blocks = true;
            Ok(())
        }
        [
            Line { step: Step::Load { register, .. }, .. },
            Line { step: Step::Compare { register: predicate, left, exits, .. }, .. },
        ] if predicate == name && left == register => {
            *exits = Some(!again);
            Ok(())
        }
        _ => unsupported("a loop that does more than wait"),
    }
}

fn scope_of(part: &str) -> Option<Scope> {
    match part {
        "cta" => Some(Scope::Cta),
        "cluster" => Some(Scope::Cluster),
        "gpu" => Some(Scope::Gpu),
        "sys" => Some(Scope::Sys),
        _ => None,
    }
}

fn proxy_window(part: &str) -> Option<Window> {
    match part {
        "global" => Some(Window::Global),
        "shared::cta" => Some(Window::SharedCta),
        "shared::cluster" => Some(Window::SharedCluster),
        _ => None,
    }
}

fn fence(how: &[&str]) -> Option<Step> {
    let (sem, scope) = match how {
        ["sc", scope] => (Sem::Sequential, scope),
        ["acq_rel", scope] | [scope] => (Sem::AcquireRelease, scope),
        ["acquire", scope] => (Sem::Acquire, scope),
        ["release", scope] => (Sem::Release, scope),
        _ => return None,
    };
    Some(Step::Fence { sem, scope: scope_of(scope)? })
}

fn cluster_arrive(how: &[&str]) -> Option<Step> {
    let known = how.iter().all(|part| matches!(*part, "release" | "relaxed" | "aligned"));
    known.then_some(Step::ClusterArrive { relaxed: how.contains(&"relaxed") })
}
