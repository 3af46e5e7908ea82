//! The initial state: values, registers, declarations and aliases.

mod declared;

use model::memory::{ABSOLUTE, Home, Proxy, Space, TENSORMAP_BYTES, VariableId};
use model::program::{InitialValue, Launch, LaunchOrder, ThreadId};
use model::value::Value;

use self::declared::DeclaredType;
use crate::{Declarations, DeclaredRegister, DeclaredVariable};
use lift::draft::{PointsTo, ProgramBuilder};
use text::cursor::{Cursor, short};
use text::lex::TokenKind;
use text::report::{ByteSpan, Diagnostics, LineIndex};

/// An array of more elements is a mistake, or a way to use up memory.
const MOST_ELEMENTS: u64 = 1 << 16;

/// What a placement of a thread begins with.
const PLACES: [&str; 5] = ["cta", "cluster", "gpu", "kernel", "warp"];

/// A value that needs every variable to be known.
struct Pointer<'a> {
    thread: ThreadId,
    register: model::isa::Reg,
    name: &'a str,
    at: ByteSpan,
    offset: u64,
    copy_of: Option<ThreadId>,
}

/// `y @ generic aliases x`.
struct Aliasing<'a> {
    alias: VariableId,
    at: ByteSpan,
    proxy: Proxy,
    of: &'a str,
    of_at: ByteSpan,
}

/// What was declared, in the order of the file. Variables and registers that are not named here come
/// after these in the program.
#[derive(Default)]
pub(crate) struct DeclaredNames {
    /// How many variables have entries.
    pub(crate) variables: usize,
    /// Of each thread.
    pub(crate) registers: Vec<Vec<DeclaredRegister>>,
    /// The order of kernels.
    pub(crate) launches: Vec<Launch>,
}

struct InitReader<'a, 'r> {
    draft: &'r mut ProgramBuilder,
    report: &'r mut Diagnostics,
    registers: Vec<Vec<DeclaredRegister>>,
    pointers: Vec<Pointer<'a>>,
    aliases: Vec<Aliasing<'a>>,
    launches: Vec<(Launch, ByteSpan)>,
    /// Tensormaps, and the names of their tensors.
    tensormaps: Vec<(VariableId, &'a str, ByteSpan)>,
    /// Multimem addresses, each with one of its locations.
    multimems: Vec<(VariableId, &'a str, ByteSpan)>,
    lines: LineIndex,
}

pub(crate) fn read(
    init: Cursor<'_>,
    draft: &mut ProgramBuilder,
    report: &mut Diagnostics,
) -> DeclaredNames {
    let registers = vec![Vec::new(); draft.threads.len()];
    let (pointers, aliases, lines) = (Vec::new(), Vec::new(), LineIndex::of(init.text));
    let (launches, tensormaps, multimems) = (Vec::new(), Vec::new(), Vec::new());
    let mut reader = InitReader {
        draft,
        report,
        registers,
        pointers,
        aliases,
        launches,
        tensormaps,
        multimems,
        lines,
    };
    let mut cursor = init;
    while !cursor.at_end() {
        if cursor.eat(";").is_some() {
            continue;
        }
        let begin = cursor.rest().len();
        if reader.entry(&mut cursor).is_none() {
            skip_entry(&mut cursor);
        } else if !cursor.at_end() && !cursor.is(";") {
            cursor.expected("`;`", reader.report);
            // `x=0 y=0`: the second entry is read as if `;` stood there.
            if cursor.kind_at(0) != Some(TokenKind::Word) || begin == cursor.rest().len() {
                skip_entry(&mut cursor);
            }
        }
    }
    let variables = reader.draft.variables.len();
    let registers = std::mem::take(&mut reader.registers);
    let launches = reader.launches.iter().map(|(launch, _)| *launch).collect();
    reader.resolve();
    DeclaredNames { variables, registers, launches }
}

fn skip_entry(cursor: &mut Cursor<'_>) {
    while !cursor.at_end() && cursor.eat(";").is_none() {
        cursor.advance();
    }
}

impl<'a> InitReader<'a, '_> {
    /// One entry; `None` after an error that leaves no sense in reading on.
    fn entry(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        if cursor.is("kernel") && cursor.kind_at(1) == Some(TokenKind::Number) {
            return self.launch(cursor);
        }
        let thread = cursor.text_at(0).strip_prefix('P');
        let thread = thread.is_some_and(|number| number.parse::<u16>().is_ok());
        if thread && cursor.text_at(1) == "@" && PLACES.contains(&cursor.text_at(2)) {
            let (name, at) = cursor.word()?;
            self.report
                .error(
                    "placement",
                    at,
                    format!("the placement of `{name}` stands in the initial state"),
                )
                .note("threads are placed in the first row of the table")
                .help(format!("{name}@cta 0,gpu 0 | … ;"));
            return None;
        }
        let ty = declared::read(cursor, self.report)?;
        if cursor.is("*") {
            let at = cursor.here();
            self.pointer_in_memory(at);
            return None;
        }
        let named = matches!(cursor.kind_at(0), Some(TokenKind::Word | TokenKind::Number));
        if named && cursor.text_at(1) == ":" {
            return self.register(cursor, &ty);
        }
        let bracket = cursor.eat("[");
        let Some((name, at)) = cursor.word() else {
            cursor.expected("a variable or a register", self.report).help("x=0; P0:r0=0; ");
            return None;
        };
        if bracket.is_some() && cursor.eat("]").is_none() {
            cursor.expected("`]`", self.report);
            return None;
        }
        if let Some(bare) = name.strip_prefix('%') {
            self.report
                .error(
                    "register-thread",
                    at,
                    format!("`{}` is a register, but its thread is missing", short(name)),
                )
                .note("the thread is missing")
                .help(format!("P0:{}=0", short(bare)));
            return None;
        }
        let id = self.declare(name, at, &ty);
        if cursor.is("[") && bracket.is_none() {
            self.array_length(cursor, id)?;
        }
        if cursor.is("@") && cursor.text_at(1) == "tensormap" {
            return self.tensormap(cursor, id);
        }
        if cursor.is("@") && cursor.text_at(1) == "multimem" {
            return self.multimem(cursor, id);
        }
        let attribute = matches!(cursor.text_at(1), "home" | "sparse")
            || cursor.kind_at(1) == Some(TokenKind::Number);
        if cursor.is("@") && !attribute || cursor.is("aliases") {
            return self.alias(cursor, id, at);
        }
        if cursor.eat("=").is_some() {
            self.values(cursor, id)?;
        }
        while cursor.is("@") {
            match cursor.text_at(1) {
                "home" | "" => self.home(cursor, id)?,
                _ => self.placed(cursor, id)?,
            }
        }
        Some(())
    }

    /// `kernel 0 -> 1 @programmatic`.
    fn launch(&mut self, cursor: &mut Cursor<'a>) -> Option<()> {
        const HELP: &str = "kernel 0 -> 1 @stream;";
        let begin = cursor.eat("kernel")?;
        let (before, before_at) = self.kernel(cursor)?;
        if cursor.eat("->").is_none() {
            cursor.expected("`->`", self.report).help(HELP);
            return None;
        }
        let (after, after_at) = self.kernel(cursor)?;
        if cursor.eat("@").is_none() {
            cursor.expected("`@stream` or `@programmatic`", self.report).help(HELP);
            return None;
        }
        let Some((name, name_at)) = cursor.word() else {
            cursor.expected("`stream` or `programmatic`", self.report).help(HELP);
            return None;
        };
        let Some(order) = LaunchOrder::ALL.into_iter().find(|order| order.name() == name) else {
            let near = self.report.nearest(name, LaunchOrder::ALL.map(LaunchOrder::name));
            let near = near.map(str::to_owned);
            self.report
                .error("launch", name_at, format!("unknown order of kernels `{}`", short(name)))
                .note("`stream` or `programmatic`")
                .help_if(near);
            return None;
        };
        let launch = Launch { before, after, order };
        let at = begin.to(name_at);
        let known =
            self.launches.iter().find(|(known, _)| (known.before, known.after) == (before, after));
        if let Some(&(_, first)) = known {
            self.report
                .error("launch", at, "these kernels have an order already")
                .label(first, "first here");
            return Some(());
        }
        let mut later = vec![after];
        let mut at_later = 0;
        while let Some(&kernel) = later.get(at_later) {
            at_later += 1;
            for (known, _) in &self.launches {
                if known.before == kernel && !later.contains(&known.after) {
                    later.push(known.after);
                }
            }
        }
        if later.contains(&before) {
            self.report
                .error("launch", before_at.to(after_at), "a kernel cannot be launched after itself")
                .help(HELP);
            return Some(());
        }
        self.launches.push((launch, at));
        Some(())
    }

    /// The number of a kernel that has threads.
    fn kernel(&mut self, cursor: &mut Cursor<'a>) -> Option<(u32, ByteSpan)> {
        let Some((number, at)) = cursor.number(self.report) else {
            cursor.expected("the number of a kernel", self.report).help("kernel 0 -> 1 @stream;");
            return None;
        };
        let known = self.draft.threads.iter().find(|of| u64::from(of.placement.kernel) == number);
        let Some(known) = known else {
            self.report
                .error("launch", at, format!("no thread is in kernel {number}"))
                .help(format!("P1@cta 0,gpu 0,kernel {number}"));
            return None;
        };
        Some((known.placement.kernel, at))
    }

    /// `@0x1000`, and in tests in SASS `@sparse`.
    fn placed(&mut self, cursor: &mut Cursor<'a>, id: VariableId) -> Option<()> {
        cursor.eat("@")?;
        let sass = self.draft.sass;
        if sass && cursor.eat("sparse").is_some() {
            self.draft.variable(id).sparse = true;
            return Some(());
        }
        let Some((address, at)) = cursor.number(self.report) else {
            let (known, help) = if sass {
                ("`home`, `sparse` or an address", "x=0 @sparse;")
            } else {
                ("`home` or an address", "@home host")
            };
            cursor.expected(known, self.report).help(help);
            return None;
        };
        if address < ABSOLUTE && address.is_multiple_of(16) {
            self.draft.variable(id).absolute = Some(address);
        } else {
            self.report
                .error("absolute", at, "an absolute address has 24 bits, and is a multiple of 16")
                .help("x=0 @0x1000;");
        }
        Some(())
    }

    fn pointer_in_memory(&mut self, at: ByteSpan) {
        self.report
            .error("pointer", at, "a variable cannot hold the address of another variable")
            .help("put the address into a register: P0:r0=x");
    }

    /// The variable; one declared before is declared again only to say the same more precisely.
    fn declare(&mut self, name: &str, at: ByteSpan, ty: &DeclaredType) -> VariableId {
        let known = self.draft.known_variable(name);
        let id = match known {
            Some(known) => {
                let first = self.draft.variable(known).at;
                self.report
                    .error("duplicate-variable", at, format!("`{}` is declared twice", short(name)))
                    .label(first, "first here");
                known
            }
            None => self.draft.declare(name, at, self.report),
        };
        let variable = self.draft.variable(id);
        if known.is_none() {
            variable.element = ty.bytes;
            variable.space = ty.space;
            variable.mbarrier = ty.mbarrier;
        }
        id
    }

    fn array_length(&mut self, cursor: &mut Cursor<'a>, id: VariableId) -> Option<()> {
        cursor.eat("[")?;
        let Some((length, at)) = cursor.number(self.report) else {
            cursor.expected("the length of the array", self.report);
            return None;
        };
        if length == 0 || length > MOST_ELEMENTS {
            self.report.error("array", at, format!("an array has 1 to {MOST_ELEMENTS} elements"));
        }
        let length = u32::try_from(length.clamp(1, MOST_ELEMENTS)).expect("it was clamped");
        self.draft.variable(id).count = Some(length);
        if cursor.eat("]").is_none() {
            cursor.expected("`]`", self.report);
            return None;
        }
        Some(())
    }

    fn values(&mut self, cursor: &mut Cursor<'a>, id: VariableId) -> Option<()> {
        if cursor.is("&") || cursor.kind_at(0) == Some(TokenKind::Word) {
            let at = cursor.rest_at();
            let end = cursor.here();
            self.pointer_in_memory(ByteSpan { end: end.end, ..at });
            return None;
        }
        if cursor.is("?") {
            return self.no_value(cursor, id);
        }
        if self.draft.variable(id).mbarrier {
            return self.objects(cursor, id);
        }
        let mut values = self.numbers(cursor)?;
        let variable = self.draft.variable(id);
        let room = variable.count.unwrap_or(1) as usize;
        if let Some(&(_, at)) = values.get(room) {
            let (name, count) = (short(&variable.name), values.len());
            let message = format!("`{name}` has {room} elements, but {count} values are given");
            self.report.error("array", at, message).help(format!("{name}[{count}]"));
            values.truncate(room);
        }
        variable.values = values;
        Some(())
    }

    /// `?`: nobody has given the location a value.
    fn no_value(&mut self, cursor: &mut Cursor<'a>, id: VariableId) -> Option<()> {
        let at = cursor.here();
        cursor.eat("?")?;
        let variable = self.draft.variable(id);
        let plain =
            matches!(variable.space, None | Some(Space::Global | Space::Shared | Space::Local));
        if variable.mbarrier || !plain {
            let name = short(&variable.name);
            let why = format!("`{name}` is memory that always has a value");
            self.report
                .error("no-value", at, why)
                .note("global, shared and local memory may have none")
                .help(format!("{name};"));
            return None;
        }
        variable.uninitialised = true;
        Some(())
    }

    /// A number, or several in braces.
    fn numbers(&mut self, cursor: &mut Cursor<'a>) -> Option<Vec<(Value, ByteSpan)>> {
        let mut values = Vec::new();
        if cursor.eat("{").is_none() {
            let Some(value) = cursor.value(self.report) else {
                cursor.expected("a number", self.report);
                return None;
            };
            return Some(vec![value]);
        }
        while cursor.eat("}").is_none() {
            let Some(value) = cursor.value(self.report) else {
                cursor.expected("a number", self.report);
                return None;
            };
            values.push(value);
            if cursor.eat(",").is_none() && !cursor.is("}") {
                cursor.expected("`,` or `}`", self.report);
                return None;
            }
        }
        Some(values)
    }

    /// The state of an mbarrier object, `{count, phase, tx}`, or of each one of an array: `{{1}, {1, 0, 16}}`.
    fn objects(&mut self, cursor: &mut Cursor<'a>, id: VariableId) -> Option<()> {
        let mut objects = Vec::new();
        let array = self.draft.variable(id).count.is_some();
        if array && cursor.eat("{").is_some() {
            while cursor.eat("}").is_none() {
                objects.push(self.numbers(cursor)?);
                if cursor.eat(",").is_none() && !cursor.is("}") {
                    cursor.expected("`,` or `}`", self.report);
                    return None;
                }
            }
        } else {
            objects.push(self.numbers(cursor)?);
        }
        for values in &mut objects {
            if let Some(&(_, at)) = values.get(3) {
                let name = short(&self.draft.variable(id).name);
                self.report
                    .error(
                        "array",
                        at,
                        format!("an object of `{name}` has a count, a phase and a tx-count"),
                    )
                    .help(format!(".shared .mbarrier {name} = {{1, 0, 0}};"));
                values.truncate(3);
            }
        }
        objects.retain(|values| !values.is_empty());
        self.draft.variable(id).objects = objects;
        Some(())
    }

    /// `t @tensormap g`: 128 bytes of global memory.
    fn tensormap(&mut self, cursor: &mut Cursor<'a>, id: VariableId) -> Option<()> {
        cursor.eat("@")?;
        cursor.eat("tensormap")?;
        let Some((of, of_at)) = cursor.word() else {
            cursor.expected("the variable of its tensor", self.report).help("t @tensormap g");
            return None;
        };
        let variable = self.draft.variable(id);
        variable.element = Some(4);
        variable.count = Some(TENSORMAP_BYTES / 4);
        variable.space = Some(Space::Global);
        self.tensormaps.push((id, of, of_at));
        Some(())
    }

    /// `m @multimem x, y`: an address in global memory.
    fn multimem(&mut self, cursor: &mut Cursor<'a>, id: VariableId) -> Option<()> {
        cursor.eat("@")?;
        cursor.eat("multimem")?;
        self.draft.variable(id).space = Some(Space::Global);
        loop {
            let Some((location, at)) = cursor.word() else {
                let what = "a location of the multimem address";
                cursor.expected(what, self.report).help("m @multimem x, y");
                return None;
            };
            self.multimems.push((id, location, at));
            if cursor.eat(",").is_none() {
                return Some(());
            }
        }
    }

    /// `@home gpu 1`, `@home host`.
    fn home(&mut self, cursor: &mut Cursor<'a>, id: VariableId) -> Option<()> {
        const HELP: &str = "@home host";
        let begin = cursor.eat("@")?;
        if cursor.eat("home").is_none() {
            cursor.expected("`home`", self.report).help(HELP);
            return None;
        }
        let home = if cursor.eat("host").is_some() {
            Home::Host
        } else if cursor.eat("gpu").is_some() {
            let Some((number, at)) = cursor.number(self.report) else {
                cursor.expected("the number of a GPU", self.report).help("@home gpu 1");
                return None;
            };
            Home::Gpu(u8::try_from(number).unwrap_or_else(|_| {
                self.report.error("number", at, "invalid GPU number").help("@home gpu 1");
                0
            }))
        } else {
            cursor.expected("`gpu` or `host`", self.report).help(HELP);
            return None;
        };
        self.draft.variable(id).home = Some((home, begin.to(cursor.previous())));
        Some(())
    }

    /// `@ generic aliases x`.
    fn alias(&mut self, cursor: &mut Cursor<'a>, alias: VariableId, at: ByteSpan) -> Option<()> {
        const PROXIES: [(&str, Proxy); 4] = [
            ("generic", Proxy::Generic),
            ("texture", Proxy::Texture),
            ("surface", Proxy::Surface),
            ("constant", Proxy::Constant),
        ];
        let mut proxy = Proxy::Generic;
        if cursor.eat("@").is_some() {
            let Some((name, name_at)) = cursor.word() else {
                cursor.expected("a proxy", self.report).help("y @ generic aliases x");
                return None;
            };
            if self.draft.known_thread(name).is_some() {
                let shown = short(&self.draft.variable(alias).name);
                self.report
                    .error(
                        "initial-copy",
                        name_at,
                        "all copies of a variable have the same initial value",
                    )
                    .help(format!(".shared .u32 {shown}=0;"));
                return None;
            }
            if let Some((_, known)) = PROXIES.iter().find(|(known, _)| *known == name) {
                proxy = *known;
            } else {
                let known = PROXIES.iter().map(|(known, _)| *known).chain(["home"]);
                let near = self.report.nearest(name, known);
                self.report
                    .error("proxy", name_at, format!("unknown proxy `{}`", short(name)))
                    .note("`generic`, `texture`, `surface` or `constant`; or `home`")
                    .help_if(near.map(str::to_owned));
            }
        }
        if cursor.eat("aliases").is_none() {
            cursor.expected("`aliases`", self.report).help("y @ generic aliases x");
            return None;
        }
        let Some((of, of_at)) = cursor.word() else {
            cursor.expected("the variable that it aliases", self.report);
            return None;
        };
        self.aliases.push(Aliasing { alias, at, proxy, of, of_at });
        Some(())
    }

    /// `r0`; in tests in SASS also `c[0x0][0x210]` and `SR_TID.X`, which hold what a kernel finds when
    /// it begins.
    fn register_name(&mut self, cursor: &mut Cursor<'a>) -> Option<(String, ByteSpan)> {
        let (name, mut at) = cursor.word()?;
        let mut name = name.to_owned();
        while self.draft.sass {
            if cursor.eat(".").is_some() {
                let (word, end) = cursor.word()?;
                name = format!("{name}.{word}");
                at = at.to(end);
            } else if cursor.eat("[").is_some() {
                let (number, _) = cursor.number(self.report)?;
                name = format!("{name}[{number:#x}]");
                at = at.to(cursor.eat("]")?);
            } else {
                break;
            }
        }
        Some((name, at))
    }

    /// `P0:r0=1`, `0:r0=x`, `P1:r1=&x@P0`.
    fn register(&mut self, cursor: &mut Cursor<'a>, ty: &DeclaredType) -> Option<()> {
        let token = cursor.advance()?;
        let thread = self.draft.thread_named(token.at.of(cursor.text), token.at, self.report);
        cursor.eat(":")?;
        let Some((name, at)) = self.register_name(cursor) else {
            cursor.expected("a register", self.report);
            return None;
        };
        let (name, thread) = (name.as_str(), thread?);
        let owner = self.draft.thread(thread);
        if owner.known_register(name).is_some_and(|r| owner.draft(r).initial.is_some()) {
            self.report.error(
                "duplicate-register",
                token.at.to(at),
                format!("`{}:{}` is initialized twice", owner.name, short(name)),
            );
        }
        let register = owner.register(name, at, self.report);
        if let Some(bytes) = ty.bytes {
            let bits = u16::try_from(8 * bytes).expect("a type has at most 16 bytes");
            owner.draft(register).bits = bits;
        }
        owner.draft(register).initial = Some(InitialValue::Value(0));
        let given = cursor.eat("=").is_some();
        let line = self.lines.number(token.at);
        let declared = DeclaredRegister { bytes: ty.bytes, given, line };
        self.registers[usize::from(thread.0)].push(declared);
        if !given {
            return Some(());
        }
        if let Some((value, _)) = cursor.value(self.report) {
            let draft = self.draft.thread(thread).draft(register);
            draft.initial = Some(InitialValue::Value(value));
            draft.given(None);
            return Some(());
        }
        cursor.eat("&");
        let Some((name, at)) = cursor.word() else {
            cursor.expected("a number or a variable", self.report);
            return None;
        };
        let mut offset = 0;
        if cursor.eat("+").is_some() {
            let Some((number, _)) = cursor.number(self.report) else {
                cursor.expected("a number of bytes", self.report).help("P0:r0=x+4;");
                return None;
            };
            offset = number;
        }
        let mut copy_of = None;
        if cursor.eat("@").is_some() {
            let Some(token) = cursor.advance() else {
                cursor.expected("the thread that owns the copy", self.report);
                return None;
            };
            copy_of = self.draft.thread_named(token.at.of(cursor.text), token.at, self.report);
        }
        self.pointers.push(Pointer { thread, register, name, at, offset, copy_of });
        Some(())
    }

    /// Gives aliases and pointers their variables.
    fn resolve(self) {
        let InitReader { draft, report, pointers, aliases, tensormaps, multimems, .. } = self;
        for (multimem, of, at) in multimems {
            if let Some(location) = draft.location(of, at, report) {
                draft.variable(multimem).multimem.push((location, at));
            }
        }
        for (map, of, of_at) in tensormaps {
            let tensor = draft.location(of, of_at, report);
            draft.variable(map).tensormap = tensor.map(|tensor| (tensor, of_at));
        }
        for Aliasing { alias, at, proxy, of, of_at } in aliases {
            let Some(target) = draft.location(of, of_at, report) else { continue };
            if draft.root(target) == alias {
                let name = short(&draft.variable(alias).name);
                report.error(
                    "alias-cycle",
                    at.to(of_at),
                    format!("`{name}` cannot be an alias of itself"),
                );
                continue;
            }
            draft.variable(alias).alias = Some((proxy, target));
        }
        for Pointer { thread, register, name, at, offset, copy_of } in pointers {
            let Some(variable) = draft.location(name, at, report) else { continue };
            let copy = copy_of.unwrap_or(thread);
            let register = draft.thread(thread).draft(register);
            register.initial = Some(InitialValue::Address { variable, thread: copy, offset });
            register.points_to = PointsTo::Nothing;
            register.given((offset == 0).then_some(variable));
        }
    }
}

/// What the initial state says of variables and registers beyond the program.
pub(crate) fn declarations(draft: &ProgramBuilder, declared: DeclaredNames) -> Declarations {
    let variables = draft.variables.iter().enumerate().take(declared.variables);
    let variables = variables.map(|(index, variable)| {
        let id = VariableId(u16::try_from(index).expect("the draft has few enough"));
        DeclaredVariable {
            element: variable.element.unwrap_or_else(|| lift::program::element(draft, id)),
            count: variable.count,
            space: variable.space,
            sparse: variable.sparse,
            mbarrier: variable.mbarrier,
        }
    });
    Declarations { variables: variables.collect(), registers: declared.registers }
}
