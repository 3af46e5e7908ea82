//! Launch files: a launch, and what is expected of it, in TOML.
//!
//! `docs/verify.md` describes the format.

use std::collections::BTreeMap;

use model::program::LaunchOrder;
use serde::Deserialize;
use text::Diagnostic;
use text::report::{ByteSpan, Diagnostics};
use toml::{Spanned, Value};

use crate::argument::{self, ArgumentField, ArgumentValue, ElementType, LaunchArgument};
use crate::finding::FindingKind;
use crate::launch::{
    Dim3, KernelLaunch, LaunchError, LaunchQuestion, LaunchSpec, ThreadChoice, ThreadPlace,
};
use crate::tensor::{TensorArgument, TensorText};
use crate::volatile::VolatileMeaning;

/// A launch file.
#[derive(Clone, Debug)]
pub struct LaunchFile {
    /// The path of the module, relative to the folder of the file.
    pub ptx: String,
    /// The path of the source that the repair of a finding changes, if it is given.
    pub source: Option<String>,
    pub launch: LaunchSpec,
    pub expected: Option<Expected>,
}

/// What a launch file expects.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The kinds that are reported, or `clean`.
    #[serde(default)]
    pub findings: Vec<String>,
    /// Kinds that may be reported, too.
    #[serde(default)]
    pub may: Vec<String>,
    /// How sure this is, and why: not judged.
    #[serde(default)]
    pub sure: Option<String>,
    #[serde(default)]
    pub why: Option<String>,
}

/// What a launch file calls a launch without findings.
pub const CLEAN: &str = "clean";

/// The file as it is written. Keys that describe it are not looked at.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "keys that describe the file are only accepted")]
struct FileText {
    name: Option<String>,
    family: Option<String>,
    variant: Option<String>,
    twin: Option<String>,
    ptx: String,
    source: Option<String>,
    kernel: Option<String>,
    kernels: Option<Vec<String>>,
    kernel_args: Option<Vec<Vec<String>>>,
    compiler: Option<String>,
    target: Option<String>,
    note: Option<String>,
    launch: LaunchText,
    #[serde(default)]
    arg: Vec<ArgumentText>,
    #[serde(default)]
    assert: Vec<AssertText>,
    expect: Option<Expected>,
    missing: Option<Value>,
    repair: Option<Value>,
    /// What is asked of the launch.
    check: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "keys that describe the file are only accepted")]
struct LaunchText {
    grid: ExtentText,
    block: ExtentText,
    cluster: Option<ExtentText>,
    gpus: Option<u32>,
    gpu_of_cta: Option<Vec<u32>>,
    resident: Option<u32>,
    cooperative: Option<bool>,
    volatile: Option<String>,
    threads: Option<Vec<[u32; 2]>>,
    threads_are: Option<String>,
    lanes: Option<Vec<u32>>,
    shared: Option<u32>,
    dependency: Option<DependencyText>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum DependencyText {
    Stream,
    Programmatic,
}

/// `2` or `[4, 2]`.
#[derive(Deserialize)]
#[serde(try_from = "Value")]
struct ExtentText(Dim3);

impl TryFrom<Value> for ExtentText {
    type Error = String;

    fn try_from(value: Value) -> Result<ExtentText, String> {
        let all = value.as_array().map_or(std::slice::from_ref(&value), Vec::as_slice);
        let number = |value: &Value| {
            let number = value.as_integer().and_then(|number| u32::try_from(number).ok());
            number.filter(|number| *number > 0)
        };
        let numbers: Option<Vec<u32>> = all.iter().map(number).collect();
        match numbers.as_deref() {
            Some([x]) => Ok(ExtentText(Dim3 { x: *x, y: 1, z: 1 })),
            Some([x, y]) => Ok(ExtentText(Dim3 { x: *x, y: *y, z: 1 })),
            Some([x, y, z]) => Ok(ExtentText(Dim3 { x: *x, y: *y, z: *z })),
            _ => Err("expected one to three numbers from 1, as in 2 or [4, 2]".to_owned()),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ArgumentText {
    name: Spanned<String>,
    #[serde(rename = "type")]
    ty: Option<Spanned<String>>,
    value: Option<Spanned<Value>>,
    /// A list, or `?`.
    init: Option<Spanned<Value>>,
    value_of_gpu: Option<Spanned<Vec<Value>>>,
    /// Of a structure: values by their offsets in bytes.
    fields: Option<Spanned<BTreeMap<String, Value>>>,
    /// Of a tensormap: the buffer of its tensor, the type of the elements, the extents of the tensor and of a tile, and the bytes
    /// between rows.
    base: Option<String>,
    element: Option<String>,
    extents: Option<Vec<u32>>,
    #[serde(rename = "box")]
    tile: Option<Vec<u32>>,
    strides: Option<Vec<u64>>,
}

/// An error, and where it is in the file if that is known.
struct WrongText {
    error: LaunchError,
    at: Option<ByteSpan>,
}

impl From<LaunchError> for WrongText {
    fn from(error: LaunchError) -> WrongText {
        WrongText { error, at: None }
    }
}

/// An error at a part of the file.
fn at<T>(part: &Spanned<T>) -> impl Fn(LaunchError) -> WrongText {
    let of = part.span();
    move |error| WrongText { error, at: Some(ByteSpan::new(of.start, of.end)) }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AssertText {
    #[serde(rename = "final")]
    condition: String,
}

/// Reads a launch file. `path` is for the messages.
///
/// # Errors
/// What is wrong with it.
pub fn read(path: &str, text: &str) -> Result<LaunchFile, Vec<Diagnostic>> {
    let mut report = Diagnostics::default();
    let parsed: Result<FileText, toml::de::Error> = toml::from_str(text);
    let file = match parsed {
        Ok(file) => file,
        Err(error) => {
            let at = error.span().map_or(ByteSpan::default(), |at| ByteSpan::new(at.start, at.end));
            report.error("launch-file", at, error.message().to_owned());
            return Err(report.finish(path, text));
        }
    };
    match file.launch_file() {
        Ok(file) => Ok(file),
        Err(WrongText { error, at }) => {
            // What a message names is where it is wrong.
            let named = error.message.split('`').nth(1).and_then(|name| {
                let start = text.find(&format!("\"{name}\""))?;
                Some(ByteSpan::new(start, start + name.len() + 2))
            });
            report
                .error("launch-file", at.or(named).unwrap_or_default(), error.message)
                .help_if(error.help);
            Err(report.finish(path, text))
        }
    }
}

impl FileText {
    fn launch_file(self) -> Result<LaunchFile, WrongText> {
        let names = self.kernels.unwrap_or_else(|| self.kernel.into_iter().collect());
        let mut kernels: Vec<KernelLaunch> = Vec::new();
        for (index, name) in names.into_iter().enumerate() {
            let arguments = self.kernel_args.as_ref().and_then(|all| all.get(index).cloned());
            kernels.push(KernelLaunch { name: Some(name), arguments });
        }
        if kernels.is_empty() {
            kernels.push(KernelLaunch { name: None, arguments: None });
        }
        let questions = match &self.check {
            Some(names) => {
                names.iter().map(|name| LaunchQuestion::parse(name)).collect::<Result<_, _>>()?
            }
            None => LaunchQuestion::ALL.into(),
        };
        let launch = self.launch;
        let volatile = launch.volatile.as_deref().map(VolatileMeaning::parse).transpose()?;
        let volatile = volatile.unwrap_or_default();
        let threads = match (launch.threads, launch.lanes) {
            (Some(pairs), _) => ThreadChoice::Pairs(
                pairs.into_iter().map(|[cta, thread]| ThreadPlace { cta, thread }).collect(),
            ),
            (None, Some(lanes)) => ThreadChoice::OfEachCta(lanes),
            (None, None) => ThreadChoice::All,
        };
        if let Some(expected) = &self.expect {
            let mut kinds = expected.findings.iter().chain(&expected.may);
            let known = |kind: &&String| {
                *kind == CLEAN || FindingKind::ALL.iter().any(|of| of.name() == **kind)
            };
            if let Some(kind) = kinds.find(|kind| !known(kind)) {
                let all = FindingKind::ALL.iter().map(|kind| kind.name()).chain([CLEAN]);
                return Err(LaunchError::new(format!("`{kind}` is no kind of a finding"))
                    .help(all.collect::<Vec<_>>().join(", "))
                    .into());
            }
        }
        let arguments = self.arg.into_iter().map(ArgumentText::argument);
        Ok(LaunchFile {
            ptx: self.ptx,
            source: self.source,
            launch: LaunchSpec {
                kernels,
                order: match launch.dependency {
                    Some(DependencyText::Programmatic) => LaunchOrder::Programmatic,
                    Some(DependencyText::Stream) | None => LaunchOrder::Stream,
                },
                grid: launch.grid.0,
                block: launch.block.0,
                cluster: launch.cluster.map(|cluster| cluster.0),
                threads,
                gpus: launch.gpu_of_cta.unwrap_or_default(),
                cooperative: launch.cooperative.unwrap_or(false),
                volatile,
                shared: launch.shared,
                resident: launch.resident,
                arguments: arguments.collect::<Result<_, _>>()?,
                assertions: self.assert.into_iter().map(|assert| assert.condition).collect(),
                questions,
            },
            expected: self.expect,
        })
    }
}

impl ArgumentText {
    fn argument(self) -> Result<LaunchArgument, WrongText> {
        let name = self.name.get_ref().clone();
        argument::check_name(&name).map_err(at(&self.name))?;
        self.check_once()?;
        let missing = || {
            let error = LaunchError::new(format!("the argument `{name}` has no value"))
                .help("type = \"u32[4]\" for a buffer, or value = 4");
            at(&self.name)(error)
        };
        let value = if let Some(tensor) = self.tensor() {
            ArgumentValue::Tensor(tensor?)
        } else if let Some(fields) = &self.fields {
            let field = |(offset, value): (&String, &Value)| {
                let offset = offset.parse().map_err(|_| {
                    LaunchError::new(format!("`{offset}` is not the offset of a field of `{name}`"))
                })?;
                if let Some(text) = value.as_str() {
                    return argument::field(&name, offset, text);
                }
                Ok(ArgumentField { offset, value: by_value(&name, None, value)? })
            };
            let all: Result<_, LaunchError> = fields.get_ref().iter().map(field).collect();
            ArgumentValue::Fields(all.map_err(at(fields))?)
        } else if let Some((ty, element, count)) = self.array() {
            let initial = self
                .init
                .as_ref()
                .map(|all| elements(&name, element, all.get_ref()).map_err(at(all)));
            let initial = initial.transpose()?.unwrap_or_else(|| Some(Vec::new()));
            argument::buffer(&name, element, count, initial).map_err(at(ty))?
        } else {
            let ty = match &self.ty {
                Some(ty) => {
                    let known = ElementType::parse(ty.get_ref());
                    Some(known.ok_or_else(|| at(ty)(argument::unknown_type(&name, ty.get_ref())))?)
                }
                None => None,
            };
            if let Some(values) = &self.value_of_gpu {
                let ty = ty.unwrap_or(ElementType::unsigned(64));
                let of_gpu = |value: &Value| match value.as_str() {
                    Some(text) if text.starts_with('@') => ArgumentValue::parse(&name, text),
                    _ => bits(&name, ty, value).map(|bits| ArgumentValue::Number { bits, ty }),
                };
                let all = values.get_ref().iter().map(of_gpu);
                ArgumentValue::OfGpu(all.collect::<Result<_, _>>().map_err(at(values))?)
            } else {
                let value = self.value.as_ref().ok_or_else(missing)?;
                by_value(&name, ty, value.get_ref()).map_err(at(value))?
            }
        };
        Ok(LaunchArgument { name, value })
    }

    /// The type of a buffer, with its elements and how many there are.
    fn array(&self) -> Option<(&Spanned<String>, ElementType, u32)> {
        let ty = self.ty.as_ref()?;
        let (element, count) = array(ty.get_ref())?;
        Some((ty, element, count))
    }

    /// The tensor of a tensormap; `None` of another argument.
    fn tensor(&self) -> Option<Result<TensorArgument, WrongText>> {
        let Some(ty) = self.ty.as_ref().filter(|ty| ty.get_ref() == TENSORMAP) else {
            let own = self.extents.is_some() || self.tile.is_some() || self.strides.is_some();
            let is_tensor = own || self.base.is_some() || self.element.is_some();
            let name = self.name.get_ref();
            let error = LaunchError::new(format!("`{name}` has a tensor, and is no tensormap"));
            let error = error.help(format!("type = \"{TENSORMAP}\""));
            return is_tensor.then(|| Err(at(&self.name)(error)));
        };
        let text = TensorText {
            base: self.base.as_deref().unwrap_or_default(),
            element: self.element.as_deref().unwrap_or_default(),
            extents: self.extents.clone().unwrap_or_default(),
            tile: self.tile.clone().unwrap_or_default(),
            strides: self.strides.clone().unwrap_or_default(),
        };
        let made = TensorArgument::new(self.name.get_ref(), text);
        Some(
            made.map_err(|error| {
                at(ty)(LaunchError { help: Some(TENSOR_KEYS.to_owned()), ..error })
            }),
        )
    }

    /// An argument has its value once.
    fn check_once(&self) -> Result<(), WrongText> {
        let place = |of: Option<std::ops::Range<usize>>, what| of.map(|at| (at, what));
        let buffer = self.array().map(|(ty, ..)| ty.span());
        let is_buffer = buffer.is_some();
        let all = [
            place(buffer, "a buffer by its `type`"),
            place(self.value.as_ref().map(Spanned::span), "`value`"),
            place(self.value_of_gpu.as_ref().map(Spanned::span), "`value_of_gpu`"),
            place(self.fields.as_ref().map(Spanned::span), "`fields`"),
            place(self.init.as_ref().filter(|_| !is_buffer).map(Spanned::span), "`init`"),
        ];
        let mut given = all.into_iter().flatten();
        let (Some((_, first)), Some((of, second))) = (given.next(), given.next()) else {
            return Ok(());
        };
        let name = self.name.get_ref();
        let why = format!("the argument `{name}` has two values: {first} and {second}");
        let error = LaunchError::new(why).help("type = \"u32[4]\" for a buffer, or value = 4");
        Err(WrongText { error, at: Some(ByteSpan::new(of.start, of.end)) })
    }
}

/// The type of an argument that is a tensormap, and what else it has.
const TENSORMAP: &str = "tensormap";
const TENSOR_KEYS: &str = "base = \"@a\", element = \"u32\", extents = [8, 4], box = [8, 2]; strides = [64] in bytes where rows have gaps";

/// The elements of a buffer; `None` where nobody has written it.
fn elements(
    name: &str,
    element: ElementType,
    init: &Value,
) -> Result<Option<Vec<u64>>, LaunchError> {
    if init.as_str() == Some(argument::NO_VALUE) {
        return Ok(None);
    }
    let all = init.as_array().ok_or_else(|| {
        LaunchError::new(format!("`init` of `{name}` is not a list of values"))
            .help("init = [1, 2], or init = \"?\" where nobody has written the buffer")
    })?;
    all.iter().map(|value| bits(name, element, value)).collect::<Result<_, _>>().map(Some)
}

/// `u32[4]`
fn array(ty: &str) -> Option<(ElementType, u32)> {
    let (element, count) = ty.strip_suffix(']')?.split_once('[')?;
    Some((ElementType::parse(element.trim())?, count.trim().parse().ok()?))
}

fn by_value(
    name: &str,
    ty: Option<ElementType>,
    value: &Value,
) -> Result<ArgumentValue, LaunchError> {
    if let Value::String(text) = value {
        return Ok(LaunchArgument::parse(&format!("{name}={text}"))?.value);
    }
    match (ty, number(value)) {
        (None, Some(text)) => Ok(ArgumentValue::Untyped(text)),
        (ty, _) => {
            let ty = ty.unwrap_or(ElementType::unsigned(64));
            bits(name, ty, value).map(|bits| ArgumentValue::Number { bits, ty })
        }
    }
}

/// A number as it is written: a float has a point.
fn number(value: &Value) -> Option<String> {
    match value {
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(format!("{number:?}")),
        Value::String(_)
        | Value::Boolean(_)
        | Value::Datetime(_)
        | Value::Array(_)
        | Value::Table(_) => None,
    }
}

fn bits(name: &str, ty: ElementType, value: &Value) -> Result<u64, LaunchError> {
    let text = number(value).or_else(|| value.as_str().map(str::to_owned)).unwrap_or_default();
    ty.read(name, &text)
}

#[cfg(test)]
mod tests {
    use crate::{KernelModule, compose};

    const MODULE: &str = ".version 8.7\n.target sm_90\n.address_size 64\n\
        .visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1)\n{\n\
        .reg .b32 %r<4>; .reg .b64 %rd<4>;\nld.param.u64 %rd1, [k_param_0];\n\
        ld.param.u32 %r1, [k_param_1];\nmov.u32 %r2, WARP_SZ;\nadd.u32 %r1, %r1, %r2;\n\
        st.global.u32 [%rd1], %r1;\nret;\n}\n";

    /// The test of a launch on two GPUs, or what is wrong.
    fn composed(arguments: &str) -> Result<String, String> {
        let text = format!(
            "ptx = \"k.ptx\"\n[launch]\ngrid = 2\nblock = 1\ngpu_of_cta = [0, 1]\n{arguments}"
        );
        let file = super::read("launch.toml", &text).map_err(|errors| errors[0].to_string())?;
        let module = KernelModule::read("k.ptx", MODULE).expect("a module");
        let composed = compose(&module, &file.launch);
        composed.map(|composed| composed.text).map_err(|errors| {
            errors.into_iter().filter_map(|error| error.help).collect::<Vec<_>>().join("\n")
        })
    }

    #[test]
    fn each_gpu_has_its_own_address() {
        let buffers = "[[arg]]\nname = \"s0\"\ntype = \"u32[2]\"\n[[arg]]\nname = \"s1\"\ntype = \"u32[2]\"\n";
        let mine = "[[arg]]\nname = \"mine\"\nvalue_of_gpu = [\"@s0\", \"@s1+4\"]\n";
        let rank = "[[arg]]\nname = \"rank\"\nvalue_of_gpu = [5, 7]\n";
        let text = composed(&format!("{buffers}{mine}{rank}")).expect("it is a launch");
        for register in ["P0:rd1=s0;", "P1:rd1=s1+4;", "P0:rank=5;", "P1:rank=7;", "P0:r2=32;"] {
            assert!(text.contains(register), "{register}\n{text}");
        }
        let unknown = composed(&format!("{buffers}{}{rank}", mine.replace("@s0", "@s2")));
        assert_eq!(unknown.expect_err("there is no such buffer"), "its buffers: s0, s1");
        // A parameter that has a number only is called as its argument.
        let one = buffers.split_inclusive("[2]\"\n").next().unwrap_or_default();
        let few = composed(one).expect_err("one is missing");
        assert!(few.ends_with("`s0` (8 bytes), `param_1` (4 bytes)"), "{few}");
    }
}
