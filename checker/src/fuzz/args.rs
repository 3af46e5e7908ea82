//! The options of `fuzz` and `merge`.

use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use fuzz::campaign::{MOST_SHARDS, ShardId};
use fuzz::fault::PlantedFault;
use fuzz::law::LAWS;

use crate::options::values;

pub(crate) const EXAMPLE: &str = "\
Examples: all laws for a minute; one law by two computers, and the sum of both
  causeway fuzz --for 60
  causeway fuzz --law machine --count 10000000 --shard 1/2 --out first
  causeway fuzz --law machine --count 10000000 --shard 2/2 --out second
  causeway merge first second";

#[derive(Args, Debug)]
pub struct Fuzz {
    /// A law to check; may be repeated [default: all]
    #[arg(long = "law", value_name = "NAME", value_parser = PossibleValuesParser::new(laws()), hide_possible_values = true)]
    pub laws: Vec<String>,
    /// List the laws, and the faults that can be planted
    #[arg(long)]
    pub list: bool,
    /// Check each law for this many cases, rounded up to hundreds [default: 10000, or no end with --for]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    pub count: Option<u64>,
    /// Begin no more cases after this time
    #[arg(long = "for", value_name = "SECONDS", value_parser = values::seconds)]
    pub time: Option<Duration>,
    /// The seed of the programs
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Run only one of N parts of the cases: 1/N to N/N
    #[arg(long, value_name = "I/N", value_parser = shard, default_value = "1/1", hide_default_value = true)]
    pub shard: ShardValue,
    /// Check only the case with this number
    #[arg(long, value_name = "N", conflicts_with_all = ["count", "time", "shard", "out"])]
    pub case: Option<u64>,
    /// Save the state and the failures in this folder, and continue from the state that it holds
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Plant a fault, to see that it is found
    #[arg(long, value_name = "FAULT", value_parser = fault)]
    pub plant: Option<PlantedFault>,
    /// The number of cases to run in parallel [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub jobs: Option<u16>,
    /// Output format
    #[arg(long, value_enum, default_value_t = FuzzFormat::Text)]
    pub format: FuzzFormat,
}

#[derive(Args, Debug)]
pub struct Merge {
    /// The folders that `fuzz --out` wrote
    #[arg(required = true, value_name = "FOLDER")]
    pub folders: Vec<PathBuf>,
    /// Output format
    #[arg(long, value_enum, default_value_t = FuzzFormat::Text)]
    pub format: FuzzFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum FuzzFormat {
    Text,
    /// One object per law, one per line.
    Json,
}

/// What `--shard` names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShardValue(pub ShardId);

fn laws() -> impl Iterator<Item = PossibleValue> {
    LAWS.iter().map(|law| PossibleValue::new(law.name).help(law.statement))
}

fn shard(text: &str) -> Result<ShardValue, String> {
    let parts = text.split_once('/').map(|(index, of)| (index.parse(), of.parse()));
    match parts {
        Some((Ok(index), Ok(of))) if 1 <= index && index <= of && of <= MOST_SHARDS => {
            Ok(ShardValue(ShardId { index, of }))
        }
        _ => Err("expected a part and the number of parts, such as 1/4".to_owned()),
    }
}

fn fault(text: &str) -> Result<PlantedFault, String> {
    PlantedFault::of(text).ok_or_else(|| {
        let all: Vec<String> = PlantedFault::all().iter().map(ToString::to_string).collect();
        let near = text::report::nearest(text, all.iter().map(String::as_str));
        let near = near.map_or(String::new(), |near| format!("did you mean `{near}`? "));
        format!("{near}`causeway fuzz --list` lists the faults")
    })
}
