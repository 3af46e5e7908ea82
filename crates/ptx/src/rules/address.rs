//! Rules of addresses: their forms and state spaces.

use super::rule;
use crate::qualifier::OrderQualifier;
use crate::rule::{Breach, Edit, RuleCheck, Spot};
use crate::shape::{AddressBase, InstructionForm, Opcode, OperandShape, Role, VariableShape};
use crate::version::{FunctionKind, RuleContext};
use model::isa::{SpaceQualifier, TypeKind};

rule!(ADDRESS, "address", ADDRESSES_AS_OPERANDS, Both, "an address is written in brackets");
rule!(
    ADDRESS_REGISTER,
    "address-register",
    ADDRESSES_AS_OPERANDS,
    Both,
    "an address is in an integer register as wide as addresses are, or in one of 8 or 16 bits"
);
rule!(
    ADDRESS_SPACE,
    "address-space",
    ADDRESSES_AS_OPERANDS,
    Both,
    "a variable is accessed in the state space that it is declared in"
);
rule!(
    ADDRESS_GENERIC,
    "address-generic",
    ADDRESSES_AS_OPERANDS,
    Ptxas,
    "`.const` and `.param` variables are not named in generic accesses"
);
rule!(
    ADDRESS_IMMEDIATE,
    "address-immediate",
    ADDRESSES_AS_OPERANDS,
    Ptxas,
    "immediate addresses are for `.local`"
);
rule!(
    ADDRESS_ALIGNMENT,
    "address-alignment",
    ADDRESSES_AS_OPERANDS,
    Document,
    "an access is aligned to its size"
);
rule!(
    LD_UNIFIED_SPACE,
    "ld-unified-space",
    LD,
    Both,
    "`.unified` is for `.global` and generic addresses"
);
rule!(
    LD_UNIFIED_VARIABLE,
    "ld-unified-variable",
    LD,
    Both,
    "`.unified` is for variables with that attribute"
);
rule!(
    LD_UNIFIED_MISSING,
    "ld-unified-missing",
    LD,
    Document,
    "the address of a unified variable is written with `.unified`"
);
rule!(
    LD_UNIFIED_STRONG,
    "ld-unified-strong",
    LD,
    Document,
    "`.unified` is only for weak loads: the syntax of strong loads does not have it"
);
rule!(NC_UNIFIED, "nc-unified", LD_GLOBAL_NC, Document, "`ld.global.nc` takes no `.unified`");
rule!(LDU_UNIFIED, "ldu-unified", LDU, Document, "`ldu` takes no `.unified`");
rule!(
    LD_GENERIC_STRONG,
    "ld-generic-strong",
    LD,
    Document,
    "a strong load of a generic address is of global or shared memory, `.mmio` of global memory"
);
rule!(
    LD_GENERIC_GLOBAL,
    "ld-generic-global",
    LD,
    Document,
    "an instruction for global memory is undefined at a generic address outside it"
);
rule!(
    LD_PARAM_ENTRY,
    "ld-param-entry",
    LD,
    Document,
    "`ld.param::entry` of an address that is not a kernel parameter is undefined"
);
rule!(
    LD_PARAM_FUNC,
    "ld-param-func",
    LD,
    Ptxas,
    "`ld.param::func` in a kernel is for the results of calls"
);
rule!(
    LD_PARAM_KERNEL,
    "ld-param-kernel",
    LD,
    Both,
    "`ld.param::func` of a parameter of the kernel is undefined"
);
rule!(
    LD_PARAM_GUARD,
    "ld-param-guard",
    PARAMETER_STATE_SPACE,
    Both,
    "a load of the result of a call is not predicated"
);
rule!(ST_UNIFIED, "st-unified", ST, Both, "`.unified` is for loads");
rule!(LDU_SPACE, "ldu-space", LDU, Both, "`ldu` is for `.global` and generic addresses");
rule!(
    ST_PARAM_GUARD,
    "st-param-guard",
    PARAMETER_STATE_SPACE,
    Both,
    "a store of the argument of a call is not predicated"
);
rule!(
    LD_PARAM_RESULT,
    "ld-param-result",
    PARAMETER_STATE_SPACE,
    Both,
    "what a function returns is written, and not read by it"
);
rule!(
    ST_PARAM_INPUT,
    "st-param-input",
    PARAMETER_STATE_SPACE,
    Both,
    "the parameters of a function are read, and not written by it"
);
rule!(
    ST_GENERIC_STRONG,
    "st-generic-strong",
    ST,
    Document,
    "a strong store to a generic address is to global or shared memory, `.mmio` to global memory"
);
rule!(
    ATOM_SPACE,
    "atom-space",
    ATOM,
    Both,
    "atomic operations are for `.global`, `.shared` and generic addresses"
);

pub const LD: &[RuleCheck] = &[
    RuleCheck { rule: &ADDRESS, broken: brackets },
    RuleCheck { rule: &ADDRESS_REGISTER, broken: register },
    RuleCheck { rule: &ADDRESS_SPACE, broken: variable_space },
    RuleCheck { rule: &ADDRESS_GENERIC, broken: generic_variable },
    RuleCheck { rule: &ADDRESS_IMMEDIATE, broken: immediate },
    RuleCheck { rule: &ADDRESS_ALIGNMENT, broken: alignment },
    RuleCheck { rule: &LD_UNIFIED_SPACE, broken: unified_space },
    RuleCheck { rule: &LD_UNIFIED_VARIABLE, broken: unified_variable },
    RuleCheck { rule: &LD_UNIFIED_MISSING, broken: unified_missing },
    RuleCheck { rule: &LD_UNIFIED_STRONG, broken: unified_strong },
    RuleCheck { rule: &NC_UNIFIED, broken: unified_non_coherent },
    RuleCheck { rule: &LD_GENERIC_STRONG, broken: generic_strong },
    RuleCheck { rule: &LD_GENERIC_GLOBAL, broken: generic_global },
    RuleCheck { rule: &LD_PARAM_ENTRY, broken: param_entry },
    RuleCheck { rule: &LD_PARAM_FUNC, broken: param_func },
    RuleCheck { rule: &LD_PARAM_KERNEL, broken: param_kernel },
    RuleCheck { rule: &LD_PARAM_GUARD, broken: guarded_call },
    RuleCheck { rule: &LD_PARAM_RESULT, broken: result_read },
];

pub const LDU: &[RuleCheck] = &[
    RuleCheck { rule: &LDU_SPACE, broken: ldu_space },
    RuleCheck { rule: &ADDRESS, broken: brackets },
    RuleCheck { rule: &ADDRESS_REGISTER, broken: register },
    RuleCheck { rule: &ADDRESS_SPACE, broken: variable_space },
    RuleCheck { rule: &ADDRESS_GENERIC, broken: generic_variable },
    RuleCheck { rule: &ADDRESS_IMMEDIATE, broken: immediate },
    RuleCheck { rule: &ADDRESS_ALIGNMENT, broken: alignment },
    RuleCheck { rule: &LD_UNIFIED_SPACE, broken: unified_space },
    RuleCheck { rule: &LD_UNIFIED_VARIABLE, broken: unified_variable },
    RuleCheck { rule: &LDU_UNIFIED, broken: unified_suffix },
    RuleCheck { rule: &LD_GENERIC_GLOBAL, broken: generic_global },
];

pub const ST: &[RuleCheck] = &[
    RuleCheck { rule: &ADDRESS, broken: brackets },
    RuleCheck { rule: &ADDRESS_REGISTER, broken: register },
    RuleCheck { rule: &ADDRESS_SPACE, broken: variable_space },
    RuleCheck { rule: &ADDRESS_GENERIC, broken: generic_variable },
    RuleCheck { rule: &ADDRESS_IMMEDIATE, broken: immediate },
    RuleCheck { rule: &ADDRESS_ALIGNMENT, broken: alignment },
    RuleCheck { rule: &ST_UNIFIED, broken: unified_store },
    RuleCheck { rule: &ST_PARAM_GUARD, broken: guarded_call },
    RuleCheck { rule: &ST_PARAM_INPUT, broken: input_written },
    RuleCheck { rule: &ST_GENERIC_STRONG, broken: generic_strong },
];

/// Of `atom` and `red`.
pub const ATOM: &[RuleCheck] = &[
    RuleCheck { rule: &ATOM_SPACE, broken: atomic_space },
    RuleCheck { rule: &ADDRESS, broken: brackets },
    RuleCheck { rule: &ADDRESS_REGISTER, broken: register },
    RuleCheck { rule: &ADDRESS_SPACE, broken: variable_space },
    RuleCheck { rule: &ADDRESS_GENERIC, broken: generic_variable },
    RuleCheck { rule: &ADDRESS_IMMEDIATE, broken: immediate },
    RuleCheck { rule: &ADDRESS_ALIGNMENT, broken: alignment },
];

/// The state space of the address; `Generic` where none is named.
fn space(form: &InstructionForm<'_>) -> SpaceQualifier {
    form.q.space()
}

fn at_address(
    form: &InstructionForm<'_>,
    note: impl Into<std::borrow::Cow<'static, str>>,
) -> Breach {
    Breach::at(Spot::Operand(form.place_index()), note)
}

/// Names the state space `to` in the place of the one that is named, if any is.
fn in_space(form: &InstructionForm<'_>, to: &'static str) -> Edit {
    match form.q.space {
        Some(space) => Edit::Replace(space.position, to),
        None => Edit::Insert(1, to),
    }
}

fn brackets(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    match form.operands.get(form.place_index())? {
        OperandShape::Place(_) => None,
        OperandShape::Value(_) | OperandShape::Lanes(_) => {
            let bracket = Edit::Bracket(form.place_index());
            Some(at_address(form, "expected an address").fixed_by([bracket]).safe())
        }
    }
}

fn register(form: &InstructionForm<'_>, setting: &RuleContext) -> Option<Breach> {
    let AddressBase::Register(Some(ty)) = form.place()?.base else { return None };
    let integer = matches!(ty.kind, TypeKind::Unsigned | TypeKind::Signed | TypeKind::Bits);
    // Shared, local, constant and parameter memory is small: 32 bits are enough for it.
    let short = ty.bits == 32 && !space(form).may_be_global();
    // Shorter ones are extended with zeros in every state space.
    let narrow = matches!(ty.bits, 8 | 16);
    // Without `.address_size`, ptxas takes either.
    let fits = setting.address_bits.map_or(matches!(ty.bits, 32 | 64), |bits| ty.bits == bits);
    if integer && (fits || short || narrow) {
        return None;
    }
    Some(
        at_address(form, format!("this register is `.{}`", ty.name()))
            .advised(format!("declare the register `.b{}`", setting.address_bits.unwrap_or(64))),
    )
}

/// Whether a variable that is declared in one state space can be named in an access to another.
fn reaches(access: SpaceQualifier, declared: SpaceQualifier) -> bool {
    use SpaceQualifier::{
        Const, Generic, Global, Local, Param, ParamEntry, ParamFunc, Shared, SharedCluster,
        SharedCta,
    };
    match access {
        Generic => true,
        Global => declared == Global,
        Shared | SharedCta | SharedCluster => declared.is_shared(),
        Const => declared == Const,
        Local => declared == Local,
        Param | ParamEntry | ParamFunc => declared.is_param(),
        SpaceQualifier::Tensor => declared == SpaceQualifier::Tensor,
    }
}

/// The name of a state space without its sub-qualifier.
fn family(space: SpaceQualifier) -> &'static str {
    space.name().split("::").next().unwrap_or_default()
}

fn variable_space(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let variable = form.variable()?;
    if reaches(space(form), variable.space) {
        return None;
    }
    let declared = family(variable.space);
    Some(
        at_address(form, format!("this variable is in `.{declared}`"))
            .fixed_by([in_space(form, declared)])
            .safe(),
    )
}

fn generic_variable(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let variable = form.variable()?;
    let named_only = variable.space == SpaceQualifier::Const || variable.space.is_param();
    let declared = family(variable.space);
    (named_only && space(form) == SpaceQualifier::Generic).then(|| {
        at_address(form, format!("this variable is in `.{declared}`"))
            .fixed_by([in_space(form, declared)])
            .safe()
    })
}

fn immediate(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let immediate = form.place()?.base == AddressBase::Number;
    (immediate && space(form) != SpaceQualifier::Local)
        .then(|| at_address(form, "this is a number").advised("put the address into a register"))
}

fn alignment(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let place = form.place()?;
    let bytes = form.bits()? / 8;
    let known = match place.base {
        AddressBase::Number => u32::MAX,
        AddressBase::Variable(variable) => variable.alignment,
        AddressBase::Register(_) | AddressBase::Other => return None,
    };
    if known < bytes || !bytes.is_power_of_two() || place.offset.rem_euclid(bytes.into()) == 0 {
        return None;
    }
    Some(
        at_address(form, format!("{} is not a multiple of {bytes}", place.offset))
            .advised(format!("access {bytes} bytes at a multiple of {bytes}")),
    )
}

fn unified_store(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    form.place()?.unified.then(|| {
        Breach::at(Spot::Unified, "this is a store").fixed_by([Edit::SetUnified(false)]).safe()
    })
}

/// Where the syntax has no `.unified`.
fn unified_suffix(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let place = form.place()?;
    (place.unified && space(form).may_be_global()).then(|| {
        Breach::at(Spot::Unified, "its syntax has no `.unified`")
            .fixed_by([Edit::SetUnified(false)])
            .safe()
    })
}

/// Reading R48.
fn unified_strong(form: &InstructionForm<'_>, setting: &RuleContext) -> Option<Breach> {
    form.is_strong().then(|| unified_suffix(form, setting)).flatten()
}

fn unified_non_coherent(form: &InstructionForm<'_>, setting: &RuleContext) -> Option<Breach> {
    form.is_non_coherent().then(|| unified_suffix(form, setting)).flatten()
}

fn unified_space(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let misplaced = form.place()?.unified && !space(form).may_be_global();
    misplaced.then(|| {
        Breach::at(Spot::Unified, format!("the state space is `.{}`", space(form).name()))
            .fixed_by([Edit::SetUnified(false)])
            .safe()
    })
}

fn unified_variable(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let place = form.place()?;
    let variable = form.variable()?;
    let claimed = place.unified && !variable.unified && space(form).may_be_global();
    claimed.then(|| {
        Breach::at(Spot::Unified, "this variable is declared without it")
            .fixed_by([Edit::SetUnified(false)])
            .safe()
    })
}

/// Reading R48: loads whose syntax does not have `.unified` do not require it.
fn unified_missing(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    if form.is_strong() || form.is_non_coherent() {
        return None;
    }
    let missing = form.variable()?.unified && !form.place()?.unified;
    missing.then(|| {
        at_address(form, "this variable is unified").fixed_by([Edit::SetUnified(true)]).safe()
    })
}

/// The variable that a generic access names, if it lies outside global memory.
fn outside_global(form: &InstructionForm<'_>) -> Option<VariableShape> {
    let outside = form.variable()?;
    (space(form) == SpaceQualifier::Generic && outside.space != SpaceQualifier::Global)
        .then_some(outside)
}

fn generic_strong(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let outside = outside_global(form)?;
    let order = form.q.order?;
    let shared = outside.space.is_shared();
    let fits = match order.value {
        OrderQualifier::Weak => true,
        OrderQualifier::Volatile => shared || outside.space == SpaceQualifier::Local,
        OrderQualifier::Relaxed
        | OrderQualifier::Acquire
        | OrderQualifier::Release
        | OrderQualifier::AcqRel
        | OrderQualifier::Sc => shared,
    };
    if fits && form.q.mmio.is_none() {
        return None;
    }
    Some(
        at_address(form, format!("this variable is in `.{}`", outside.space.name()))
            .advised("share a variable in `.global`"),
    )
}

fn generic_global(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let outside = outside_global(form)?;
    let wide = form.is_256_bits().then(|| form.q.vector.map(|at| at.position)).flatten();
    let only_global = [
        wide,
        form.q.prefetch.map(|at| at.position),
        form.q.policy.map(|at| at.position),
        (form.opcode == Opcode::Ldu).then_some(0),
    ];
    let position = only_global.into_iter().flatten().min()?;
    Some(Breach::part(position, "this is for global memory").advised(format!(
        "the variable is in `.{}`: access it in its state space",
        outside.space.name()
    )))
}

fn param_entry(form: &InstructionForm<'_>, setting: &RuleContext) -> Option<Breach> {
    if space(form) != SpaceQualifier::ParamEntry {
        return None;
    }
    let other = match form.variable() {
        Some(variable) => variable.space == SpaceQualifier::ParamFunc,
        None => {
            setting.function == FunctionKind::Device && form.place()?.base != AddressBase::Other
        }
    };
    let named = form.variable().is_some();
    (other && named).then(|| {
        at_address(form, "this is a parameter of a function")
            .fixed_by([in_space(form, "param::func")])
            .safe()
    })
}

fn param_func(form: &InstructionForm<'_>, setting: &RuleContext) -> Option<Breach> {
    let asked =
        space(form) == SpaceQualifier::ParamFunc && setting.function == FunctionKind::Kernel;
    (asked && form.variable().is_none()).then(|| {
        at_address(form, "this is not the result of a call")
            .fixed_by([in_space(form, "param::entry")])
    })
}

fn param_kernel(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let kernel = form.variable()?.space == SpaceQualifier::ParamEntry;
    (kernel && space(form) == SpaceQualifier::ParamFunc).then(|| {
        at_address(form, "this is a parameter of the kernel")
            .fixed_by([in_space(form, "param::entry")])
            .safe()
    })
}

fn guarded_call(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let call = form.predicated && space(form).is_param() && form.variable()?.role == Role::Argument;
    call.then(|| Breach::at(Spot::Guard, "this one is").fixed_by([Edit::RemoveGuard]))
}

fn result_read(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let variable = form.variable()?;
    (space(form).is_param() && variable.role == Role::Result)
        .then(|| at_address(form, "this is what the function returns"))
}

/// Those of kernels have a rule of their own, whatever the name of the state space.
fn input_written(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let variable = form.variable()?;
    let input = variable.role == Role::Input && variable.space == SpaceQualifier::ParamFunc;
    (space(form).is_param() && input).then(|| at_address(form, "this is a parameter"))
}

fn ldu_space(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let space = form.q.space?;
    (space.value != SpaceQualifier::Global).then(|| {
        Breach::part(space.position, "the state space is another")
            .fixed_by([Edit::Replace(space.position, "global")])
    })
}

fn atomic_space(form: &InstructionForm<'_>, _: &RuleContext) -> Option<Breach> {
    let space = form.q.space?;
    let fits = space.value == SpaceQualifier::Global || space.value.is_shared();
    (!fits).then(|| {
        Breach::part(space.position, "the state space is another")
            .fixed_by([Edit::Replace(space.position, "global")])
    })
}
