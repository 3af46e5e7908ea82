//! The threads of a test as PTX text, and a module with one kernel that runs each of them.

use std::collections::BTreeMap;
use std::fmt::Write;

use litmus::Test;
use litmus::proposition::truncate;
use model::isa::Operand;
use model::isa::bar::Barrier;
use model::memory::Space;
use model::program::{InitialValue, Observed};
use model::scope::Placement;

use super::{ExportedLine, Inexpressible, refuse_variable};

/// What a thread needs and gives: its instructions with addresses in registers.
pub(super) struct ThreadText {
    /// Declarations of registers, without those that hold addresses of variables.
    pub(super) declarations: Vec<String>,
    pub(super) instructions: Vec<String>,
    /// The observed registers, and their types.
    pub(super) observed: Vec<(String, &'static str)>,
}

/// The type of a register of so many bits.
fn type_of(bits: u16) -> &'static str {
    match bits {
        1 => ".pred",
        8 | 16 => ".b16",
        32 => ".b32",
        _ => ".b64",
    }
}

/// The text of a thread. `address` is the operand that holds the address of a variable.
pub(super) fn thread(
    test: &Test,
    number: usize,
    address: &dyn Fn(usize) -> String,
) -> Result<ThreadText, Inexpressible> {
    let thread = &test.program.threads[number];
    let mut declarations = Vec::new();
    let mut instructions = Vec::new();
    for register in &thread.registers {
        let name = &register.name;
        declarations.push(format!(".reg {} {name};", type_of(register.bits)));
        match register.initial {
            InitialValue::Address { variable, .. } => {
                instructions.push(format!("mov.b64 {name}, {};", address(usize::from(variable.0))));
            }
            InitialValue::Value(value) if register.bits > 1 => {
                let value = truncate(value, register.bits.into());
                instructions.push(format!("mov{} {name}, {value};", type_of(register.bits)));
            }
            InitialValue::Value(_) => {
                instructions.push(format!("setp.ne.u32 {name}, 0, 0;"));
            }
        }
    }
    let mut labels: BTreeMap<usize, &str> = BTreeMap::new();
    for (at, target) in thread.branches() {
        let name = thread.lines[at].text.rsplit(' ').next().unwrap_or_default();
        labels.insert(target, name);
    }
    for line in ExportedLine::all(test, number) {
        instructions.extend(labels.remove(&line.at.1).map(|name| format!("{name}:")));
        instructions.push(text(&line, address)?);
    }
    instructions.extend(labels.into_values().map(|name| format!("{name}:")));
    let observed = test.program.observed.iter().filter_map(|observed| match *observed {
        Observed::Register { thread: of, register } if usize::from(of.0) == number => {
            let register = &thread.registers[usize::from(register.0)];
            Some((register.name.clone(), type_of(register.bits)))
        }
        Observed::Register { .. } | Observed::Memory { .. } => None,
    });
    Ok(ThreadText { declarations, instructions, observed: observed.collect() })
}

/// An instruction whose address is in a register.
fn text(
    line: &ExportedLine<'_>,
    address: &dyn Fn(usize) -> String,
) -> Result<String, Inexpressible> {
    use model::isa::Instruction;
    match &line.line.instruction {
        Instruction::Unsupported(_) => return line.refuse("this instruction"),
        Instruction::Load(_)
        | Instruction::Store(_)
        | Instruction::Atomic(_)
        | Instruction::Fence(_)
        | Instruction::ProxyFence(_)
        | Instruction::Barrier(_)
        | Instruction::ClusterBarrier(_)
        | Instruction::Asynchronous(_)
        | Instruction::Alu(_)
        | Instruction::Cvta(_)
        | Instruction::Branch(_) => {}
    }
    let written = &line.line.text;
    if let Instruction::Barrier(barrier) = &line.line.instruction {
        return barrier_text(line, barrier);
    }
    let Some((at, _, _)) = line.line.instruction.access() else { return Ok(format!("{written};")) };
    let Operand::Address(variable) = at.base else { return Ok(format!("{written};")) };
    let variable = usize::from(variable.0);
    let name = &line.test.program.variables[variable].name;
    // The address is the only part of the text in brackets that begins with the name.
    let Some((before, after)) = written.split_once(&format!("[{name}")) else {
        return line.refuse("this form of an address");
    };
    Ok(format!("{before}[{}{after};", address(variable)))
}

/// A barrier, at which a whole warp arrives for each thread of the test.
fn barrier_text(line: &ExportedLine<'_>, barrier: &Barrier) -> Result<String, Inexpressible> {
    let written = &line.line.text;
    if barrier.warp {
        return line.refuse("several lanes of a warp");
    }
    match barrier.count {
        None => Ok(format!("{written};")),
        Some(Operand::Imm(count)) => match written.rsplit_once(',') {
            Some((before, last)) if last.trim() == count.to_string() => {
                Ok(format!("{before}, {};", count * 32))
            }
            _ => line.refuse("this form of a thread count"),
        },
        Some(Operand::Reg(_) | Operand::Address(_)) => line.refuse("a thread count in a register"),
    }
}

/// Each variable: its name and its size. Only those in global memory can be exported.
pub(super) fn variables(test: &Test) -> Result<Vec<(String, Vec<u8>)>, Inexpressible> {
    let each = test.program.variables.iter().enumerate().map(|(index, variable)| {
        if variable.space != Space::Global || variable.alias.is_some() {
            return refuse_variable(test, index, "an alias, or a variable outside global memory");
        }
        Ok((variable.name.clone(), variable.initial.clone()))
    });
    each.collect()
}

/// A module whose kernel runs the threads of the test: each where its CTA is, in a warp of its own. The first parameters
/// are the addresses of the variables, the last one of the observed registers, 8 bytes each.
pub(super) fn module(test: &Test) -> Result<String, Inexpressible> {
    let variables = variables(test)?;
    let roles = roles(test);
    let (version, target) = needed(test);
    let mut out = format!(
        "// {}\n// {}\n.version {version}\n.target {target}\n.address_size 64\n\n",
        test.name, test.condition_text
    );
    let shape = format!(
        "// A grid of {} CTAs of {} threads, in clusters of {}: {}\n",
        roles.ctas,
        32 * roles.warps,
        roles.cluster,
        "each thread of the test is the first one of a warp"
    );
    out.insert_str(0, &shape);
    let mut parameters: Vec<String> =
        variables.iter().map(|(name, _)| format!("    .param .u64 param_{name}")).collect();
    parameters.push("    .param .u64 observed".to_owned());
    let w = "writing to a string succeeds";
    writeln!(out, ".visible .entry litmus(\n{}\n)\n{{", parameters.join(",\n")).expect(w);
    writeln!(out, "    .reg .u32 cta_, lane_;\n    .reg .pred here_;\n    .reg .u64 out_;")
        .expect(w);
    for (name, _) in &variables {
        writeln!(out, "    .reg .u64 at_{name};").expect(w);
        writeln!(out, "    ld.param.u64 at_{name}, [param_{name}];").expect(w);
    }
    writeln!(out, "    ld.param.u64 out_, [observed];").expect(w);
    writeln!(out, "    mov.u32 cta_, %ctaid.x;\n    mov.u32 lane_, %tid.x;").expect(w);
    let mut slot = 0;
    for (number, (cta, warp)) in roles.places.iter().enumerate() {
        let address = |variable: usize| format!("at_{}", variables[variable].0);
        let body = thread(test, number, &address)?;
        writeln!(out, "    setp.ne.u32 here_, cta_, {cta};\n    @here_ bra AFTER_{number};")
            .expect(w);
        writeln!(out, "    setp.ne.u32 here_, lane_, {};", 32 * warp).expect(w);
        writeln!(out, "    @here_ bra AFTER_{number};\n    {{").expect(w);
        for line in body.declarations.iter().chain(&body.instructions) {
            writeln!(out, "        {line}").expect(w);
        }
        for (register, ty) in &body.observed {
            writeln!(out, "        st.global{ty} [out_+{}], {register};", 8 * slot).expect(w);
            slot += 1;
        }
        writeln!(out, "    }}\nAFTER_{number}:").expect(w);
    }
    out += "    ret;\n}\n";
    Ok(out)
}

/// The version of PTX and the target that have all instructions of the test.
fn needed(test: &Test) -> (&'static str, &'static str) {
    let has = |word: &str| {
        let lines = test.program.threads.iter().flat_map(|thread| &thread.lines);
        lines.clone().any(|line| line.text.contains(word))
    };
    let one_way = has("fence.acquire") || has("fence.release");
    let version = if has("proxy::readonly") {
        "9.4"
    } else if has("mmio.acquire") || has("mmio.release") {
        "9.3"
    } else if one_way {
        "8.6"
    } else if has("mmio") {
        "8.2"
    } else {
        "8.0"
    };
    (version, if one_way || has("cluster") || has("proxy::readonly") { "sm_90" } else { "sm_70" })
}

/// Where the threads of a test run in a grid.
pub(super) struct Roles {
    /// The CTA and the warp of each thread.
    pub(super) places: Vec<(usize, usize)>,
    /// CTAs of a cluster; 1 if no two CTAs of the test are in one.
    pub(super) cluster: usize,
    /// CTAs of one instance of the test: whole clusters.
    pub(super) ctas: usize,
    /// Warps of a CTA.
    pub(super) warps: usize,
}

/// The places of the threads, in the order of the threads. CTAs of a cluster follow each other.
pub(super) fn roles(test: &Test) -> Roles {
    let places: Vec<Placement> = test.program.threads.iter().map(|t| t.placement).collect();
    // The threads of each CTA of each cluster.
    let mut clusters: Vec<Vec<Vec<usize>>> = Vec::new();
    for (at, place) in places.iter().enumerate() {
        let near = |cluster: &Vec<Vec<usize>>| places[cluster[0][0]].same_cluster(*place);
        let cluster = clusters.iter().position(near).unwrap_or_else(|| {
            clusters.push(Vec::new());
            clusters.len() - 1
        });
        let ctas = &mut clusters[cluster];
        match ctas.iter_mut().find(|threads| places[threads[0]].same_cta(*place)) {
            Some(threads) => threads.push(at),
            None => ctas.push(vec![at]),
        }
    }
    let cluster = clusters.iter().map(Vec::len).max().unwrap_or(1);
    let warps = clusters.iter().flatten().map(Vec::len).max().unwrap_or(1);
    let mut roles = vec![(0, 0); places.len()];
    for (first, ctas) in clusters.iter().enumerate() {
        for (index, threads) in ctas.iter().enumerate() {
            for (warp, &at) in threads.iter().enumerate() {
                roles[at] = (first * cluster + index, warp);
            }
        }
    }
    Roles { places: roles, cluster, ctas: clusters.len() * cluster, warps }
}
