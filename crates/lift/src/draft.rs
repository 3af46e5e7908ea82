//! A program while it is read: names with their positions, and the facts collected so far.

use std::collections::{BTreeMap, BTreeSet};

use model::isa::reach::AllowedSpaces;
use model::isa::{Address, Line, Operand, Reg, SpaceQualifier};
use model::memory::{Home, Proxy, Space, VariableId};
use model::program::{InitialValue, ThreadId};
use model::scope::Placement;
use model::value::Value;
use ptx::qualifier::Dialect;
use ptx::version::{PtxIsa, Target};

use text::report::{ByteSpan, Diagnostics};

/// A variable, before its accesses are known.
#[derive(Clone, Debug)]
pub struct VariableDraft {
    pub name: String,
    pub at: ByteSpan,
    /// Bytes of one element, if a type was declared.
    pub element: Option<u32>,
    /// The number of elements, if it is an array.
    pub count: Option<u32>,
    pub values: Vec<(Value, ByteSpan)>,
    /// Whether it is declared to have no value.
    pub uninitialised: bool,
    pub space: Option<Space>,
    pub alias: Option<(Proxy, VariableId)>,
    /// Whether it is in a page that is marked as sparse. Only in tests in SASS.
    pub sparse: bool,
    /// Whether it is declared as an mbarrier object, or an array of them.
    pub mbarrier: bool,
    /// What is given for each object: its count, its phase and its tx-count.
    pub objects: Vec<Vec<(Value, ByteSpan)>>,
    /// The tensor that it is the tensormap of, and the position at which it is declared.
    pub tensormap: Option<(VariableId, ByteSpan)>,
    /// Its locations if it is a multimem address, and the positions at which they are named.
    pub multimem: Vec<(VariableId, ByteSpan)>,
    /// The address at which the test places it.
    pub absolute: Option<u64>,
    /// The location of the memory, and the position at which it is declared.
    pub home: Option<(Home, ByteSpan)>,
    pub uses: Uses,
}

/// Properties of a variable that follow from its accesses.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    /// The widest scalar, in bytes.
    pub widest: u32,
    /// The end of the furthest access.
    pub reach: u32,
    /// The state space that an instruction names first, and its position.
    pub space: Option<(Space, ByteSpan)>,
}

#[derive(Clone, Debug)]
pub struct RegisterDraft {
    pub name: String,
    pub initial: Option<InitialValue>,
    /// The width in bits; 0 while no instruction writes it.
    pub bits: u16,
    /// Whether an instruction writes it.
    pub written: bool,
    /// The variable whose address the register holds, if only one is known.
    pub points_to: PointsTo,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PointsTo {
    Nothing,
    Variable(VariableId),
    Unknown,
}

/// An access. Its address and width are checked when the whole program is known.
#[derive(Clone, Copy, Debug)]
pub struct DraftAccess {
    pub base: Operand,
    pub offset: i64,
    /// Bytes of one element.
    pub scalar: u32,
    pub elements: u32,
    /// What its address is a multiple of, in bytes.
    pub align: u32,
    /// Whether it may access no bytes.
    pub may_be_none: bool,
    pub space: SpaceQualifier,
    pub reach: AllowedSpaces,
    /// The positions of the address, and of the state space or otherwise the opcode.
    pub at: ByteSpan,
    pub space_at: ByteSpan,
}

impl DraftAccess {
    /// An access of elements of `scalar` bytes each, which is aligned to its size.
    pub fn of(
        address: Address,
        scalar: u32,
        elements: u32,
        space: SpaceQualifier,
        reach: AllowedSpaces,
        at: ByteSpan,
    ) -> DraftAccess {
        let (Address { base, offset }, align) = (address, scalar * elements);
        DraftAccess {
            base,
            offset,
            scalar,
            elements,
            align,
            may_be_none: false,
            space,
            reach,
            at,
            space_at: at,
        }
    }
}

#[derive(Clone, Debug)]
pub struct ThreadDraft {
    pub name: String,
    pub placement: Placement,
    pub registers: Vec<RegisterDraft>,
    by_name: BTreeMap<String, Reg>,
    pub lines: Vec<Line>,
    pub labels: BTreeMap<String, (usize, ByteSpan)>,
    /// Branches: the line, the label, and the position of the label.
    pub jumps: Vec<(usize, String, ByteSpan)>,
    pub accesses: Vec<DraftAccess>,
    /// Names that an instruction of the column writes. Such a name is a register if it is not a variable.
    pub defined: BTreeSet<String>,
}

/// The largest number of variables, and of registers of a thread. More do not fit the indices of the model.
const MOST: usize = 1 << 15;

impl ThreadDraft {
    pub fn new(name: String, placement: Placement) -> ThreadDraft {
        ThreadDraft {
            name,
            placement,
            registers: Vec::new(),
            by_name: BTreeMap::new(),
            lines: Vec::new(),
            labels: BTreeMap::new(),
            jumps: Vec::new(),
            accesses: Vec::new(),
            defined: BTreeSet::new(),
        }
    }

    pub fn known_register(&self, name: &str) -> Option<Reg> {
        self.by_name.get(name.strip_prefix('%').unwrap_or(name)).copied()
    }

    /// `%r0` and `r0` name the same register.
    pub fn register(&mut self, name: &str, at: ByteSpan, report: &mut Diagnostics) -> Reg {
        if let Some(known) = self.known_register(name) {
            return known;
        }
        if self.registers.len() >= MOST {
            report.error("too-many", at, "this thread has too many registers");
            return Reg(0);
        }
        let name = name.strip_prefix('%').unwrap_or(name);
        let index = u16::try_from(self.registers.len()).expect("fewer than MOST");
        self.registers.push(RegisterDraft {
            name: name.to_owned(),
            initial: None,
            bits: 0,
            written: false,
            points_to: PointsTo::Nothing,
        });
        self.by_name.insert(name.to_owned(), Reg(index));
        Reg(index)
    }

    pub fn draft(&mut self, register: Reg) -> &mut RegisterDraft {
        &mut self.registers[usize::from(register.0)]
    }

    /// Records that an instruction writes `bits` bits of the register.
    pub fn write(&mut self, register: Reg, bits: u16) {
        let draft = self.draft(register);
        draft.bits = draft.bits.max(bits);
        draft.written = true;
    }

    pub fn register_names(&self) -> impl Iterator<Item = &str> {
        self.registers.iter().map(|register| register.name.as_str())
    }
}

impl RegisterDraft {
    /// The width in bits: that of the instructions that write it, otherwise that of an address, or of its
    /// initial value if that is wider.
    pub fn width(&self) -> u16 {
        match (self.bits, self.initial) {
            (0, Some(InitialValue::Value(value))) if !crate::program::fits_value(value, 64) => 128,
            (0, _) => 64,
            (bits, _) => bits,
        }
    }

    /// Records that the register receives the address of `variable`, or with `None` a value of unknown origin.
    pub fn given(&mut self, variable: Option<VariableId>) {
        self.points_to = match (self.points_to, variable) {
            (PointsTo::Nothing, Some(variable)) => PointsTo::Variable(variable),
            (PointsTo::Variable(known), Some(variable)) if known == variable => self.points_to,
            _ => PointsTo::Unknown,
        };
    }
}

/// Which lanes of its warp a thread is beside.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WarpLanes {
    All,
    /// It is the only one.
    Lone,
}

/// The tables in which names are looked up.
#[derive(Debug)]
pub struct ProgramBuilder {
    pub dialect: Dialect,
    /// The PTX version whose rules are checked.
    pub isa: PtxIsa,
    /// The target whose rules are checked; `None` for any.
    pub target: Option<Target>,
    /// Whether the columns hold SASS.
    pub sass: bool,
    /// Whether all variables are declared before an instruction names them: any other name is then a register.
    pub declares_all: bool,
    /// Whether the code is compared with its own lowering: `.ftz`, `.approx` and `.full` then change nothing, and
    /// quotients by 0 are as ptxas computes them. A test has no such instruction, since the document does not give
    /// its result, or not as IEEE 754 does.
    pub rounds_freely: bool,
    /// Whether the thread is compared with its own lowering, as the only lane of its warp: what several lanes, or asynchronous
    /// operations, do together is not compared.
    pub lanes: WarpLanes,
    pub variables: Vec<VariableDraft>,
    by_name: BTreeMap<String, VariableId>,
    pub threads: Vec<ThreadDraft>,
    pub thread_by_name: BTreeMap<String, ThreadId>,
    /// Names that were reported, and are not reported again.
    undeclared: BTreeSet<String>,
}

impl ProgramBuilder {
    pub fn new(dialect: Dialect) -> ProgramBuilder {
        ProgramBuilder {
            dialect,
            isa: PtxIsa::NEWEST,
            target: None,
            sass: false,
            declares_all: false,
            rounds_freely: false,
            lanes: WarpLanes::All,
            variables: Vec::new(),
            by_name: BTreeMap::new(),
            threads: Vec::new(),
            thread_by_name: BTreeMap::new(),
            undeclared: BTreeSet::new(),
        }
    }

    pub fn known_variable(&self, name: &str) -> Option<VariableId> {
        self.by_name.get(name).copied()
    }

    pub fn variable(&mut self, id: VariableId) -> &mut VariableDraft {
        &mut self.variables[usize::from(id.0)]
    }

    /// Declares a new variable.
    pub fn declare(&mut self, name: &str, at: ByteSpan, report: &mut Diagnostics) -> VariableId {
        if self.variables.len() >= MOST {
            report.error("too-many", at, "this test has too many variables");
            return VariableId(0);
        }
        let id = VariableId(u16::try_from(self.variables.len()).expect("fewer than MOST"));
        self.variables.push(VariableDraft {
            name: name.to_owned(),
            at,
            element: None,
            count: None,
            values: Vec::new(),
            uninitialised: false,
            space: None,
            alias: None,
            sparse: false,
            mbarrier: false,
            objects: Vec::new(),
            tensormap: None,
            multimem: Vec::new(),
            absolute: None,
            home: None,
            uses: Uses::default(),
        });
        self.by_name.insert(name.to_owned(), id);
        id
    }

    /// The variable with this name. In the peer dialect, an undeclared variable is initially 0.
    pub fn location(
        &mut self,
        name: &str,
        at: ByteSpan,
        report: &mut Diagnostics,
    ) -> Option<VariableId> {
        if let Some(known) = self.known_variable(name) {
            return Some(known);
        }
        if self.dialect == Dialect::Peer {
            return Some(self.declare(name, at, report));
        }
        if self.undeclared.insert(name.to_owned()) {
            let shown = text::cursor::short(name);
            let near = report.nearest(name, self.by_name.keys().map(String::as_str));
            let help = match near {
                Some(near) => {
                    format!(
                        "did you mean `{near}`? Otherwise add `{shown}=0;` to the initial state"
                    )
                }
                None => format!("add `{shown}=0;` to the initial state"),
            };
            report
                .error("undeclared", at, format!("the location `{shown}` is not declared"))
                .note("not in the initial state")
                .help(help);
        }
        None
    }

    /// The variable that the test places at an address of global memory, and the offset in it. The access has
    /// `bytes` bytes.
    pub fn at_number(&self, address: u64, bytes: u32) -> Option<(VariableId, i64)> {
        self.variables.iter().enumerate().find_map(|(index, variable)| {
            let start = variable.absolute?;
            let extent = variable.element.unwrap_or(bytes.max(4)) * variable.count.unwrap_or(1);
            let offset = address.checked_sub(start).filter(|offset| *offset < extent.into())?;
            let id = VariableId(u16::try_from(index).expect("a test has few variables"));
            Some((id, i64::try_from(offset).ok()?))
        })
    }

    /// Finds a thread by its name: `P0` or `0`.
    pub fn known_thread(&self, name: &str) -> Option<ThreadId> {
        let found = self.thread_by_name.get(name).copied();
        found.or_else(|| {
            let number = name.starts_with(|c: char| c.is_ascii_digit());
            number.then(|| self.thread_by_name.get(&format!("P{name}")).copied()).flatten()
        })
    }

    pub fn thread_named(
        &self,
        name: &str,
        at: ByteSpan,
        report: &mut Diagnostics,
    ) -> Option<ThreadId> {
        let found = self.known_thread(name);
        if found.is_none() {
            let names: Vec<&str> = self.threads.iter().map(|t| t.name.as_str()).collect();
            let shown = text::cursor::short(name);
            let shown = if shown.starts_with('P') { shown } else { format!("P{shown}") };
            let count = names.len();
            let help = match (names.first(), names.last()) {
                (Some(first), Some(last)) if count > 1 => {
                    Some(format!("the {count} threads are `{first}` to `{last}`"))
                }
                (Some(first), _) => Some(format!("the only thread is `{first}`")),
                _ => None,
            };
            report.error("unknown-thread", at, format!("unknown thread `{shown}`")).help_if(help);
        }
        found
    }

    /// The thread that identifies the copy of a variable in this state space that `thread` accesses.
    pub fn owner(&self, space: Space, thread: ThreadId) -> ThreadId {
        let Some(here) = self.threads.get(usize::from(thread.0)).map(|t| t.placement) else {
            return thread;
        };
        let first = match space {
            Space::Global | Space::Const | Space::ParamEntry => 0,
            Space::Local | Space::ParamFunc => usize::from(thread.0),
            Space::Shared | Space::Tensor => self
                .threads
                .iter()
                .position(|other| other.placement.same_cta(here))
                .unwrap_or(usize::from(thread.0)),
        };
        ThreadId(u8::try_from(first).unwrap_or(thread.0))
    }

    /// The variable at the end of a chain of aliases.
    pub fn root(&self, id: VariableId) -> VariableId {
        let mut root = id;
        // A cycle was reported at its declaration. The bound ends it here.
        for _ in 0..self.variables.len() {
            match self.variables[usize::from(root.0)].alias {
                Some((_, of)) => root = of,
                None => break,
            }
        }
        root
    }

    pub fn thread(&mut self, id: ThreadId) -> &mut ThreadDraft {
        &mut self.threads[usize::from(id.0)]
    }
}
