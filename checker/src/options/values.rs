//! Reads the values of options.

use std::time::Duration;

use bytesize::ByteSize;
use machine::form::Family;
use ptx::version::{PtxIsa, Target};

pub(crate) fn size(text: &str) -> Result<ByteSize, String> {
    text.parse().map_err(|_| {
        "expected a number of bytes, with a unit if wanted: 65536, 512KiB, 512MiB, 4GiB, or 4GB"
            .to_owned()
    })
}

pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("`{text}` is not a number of seconds"))?;
    if seconds.is_finite() && seconds > 0.0 && seconds < 1e9 {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("expected a positive number of seconds".to_owned())
    }
}

/// What `--arch` names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Architectures(pub Vec<u16>);

pub(crate) fn architectures(text: &str) -> Result<Architectures, String> {
    if text == "all" {
        // One target of each family.
        return Ok(Architectures(vec![50, 70, 80, 90, 100]));
    }
    let target = Target::parse(text).filter(|target| Family::of(target.sm).is_some());
    target
        .map(|target| Architectures(vec![target.sm]))
        .ok_or_else(|| "expected sm_50 to sm_121, or `all`".to_owned())
}

pub(crate) fn machine(text: &str) -> Result<u16, String> {
    let target = Target::parse(text).filter(|target| Family::of(target.sm).is_some());
    target.map(|target| target.sm).ok_or_else(|| "expected sm_50 to sm_121".to_owned())
}

pub(crate) fn ptx_isa(text: &str) -> Result<PtxIsa, String> {
    let isa = PtxIsa::parse(text);
    let isa = isa.ok_or_else(|| "expected a version of PTX, such as 8.8".to_owned())?;
    if isa > PtxIsa::NEWEST {
        return Err(format!("the newest known version of PTX is {}", PtxIsa::NEWEST));
    }
    Ok(isa)
}

pub(crate) fn target(text: &str) -> Result<Target, String> {
    Target::parse(text).ok_or_else(|| "expected a target, such as sm_90a".to_owned())
}
