//! The options of `causeway serve`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use answer::AnswerLimits;
use bytesize::ByteSize;
use clap::Args;

use crate::options::Judging;
use crate::options::values::{seconds, size};
use crate::words::args::WordsArgs;

pub(crate) const EXAMPLE: &str = "\
Example: a page at any free port, which Ctrl-C ends
  causeway serve --listen 127.0.0.1:0
Example: the page with a test of two functions of a module
  causeway serve k.ptx 'producer(data, flag) || consumer(data, flag, out)' --never '[out]=0'";

#[derive(Args, Debug)]
pub struct Serve {
    /// The test that the page begins with: a litmus test, or a PTX module, with functions of it
    #[arg(value_name = "FILE")]
    pub path: Option<PathBuf>,
    /// Functions of the module, as in 'f(data) @cta 0 || g(data) @cta 1' (see `causeway litmus`)
    #[arg(value_name = "FUNCTIONS")]
    pub words: Option<String>,
    #[command(flatten)]
    pub asked: WordsArgs,
    /// The address of the page, which only this computer reaches; port 0 is any free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:7480", value_parser = loopback)]
    pub listen: SocketAddr,
    #[command(flatten)]
    pub judging: Judging,
    /// The time limit of an answer by the clock, after which the test is undecided
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = answered_within)]
    pub timeout: Duration,
    /// The memory limit of each search, after which the test is undecided, such as `512MiB`
    #[arg(long, value_name = "SIZE", default_value_t = ByteSize::b(AnswerLimits::MEMORY as u64), value_parser = size)]
    pub memory: ByteSize,
    /// The number of tests to judge in parallel; more are refused for the moment [default: one per core]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
}

/// An address of this computer that no other one reaches.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    let text =
        text.strip_prefix("localhost:").map_or(text.to_owned(), |port| format!("127.0.0.1:{port}"));
    let address: SocketAddr = text
        .parse()
        .map_err(|_| "expected an address and a port, such as `127.0.0.1:7480`".to_owned())?;
    if address.ip().is_loopback() {
        Ok(address)
    } else {
        Err("expected an address of this computer alone: `127.0.0.1` or `[::1]`".to_owned())
    }
}

/// The longest time of an answer.
const LONGEST: Duration = Duration::from_secs(3600);

fn answered_within(text: &str) -> Result<Duration, String> {
    let time = seconds(text)?;
    if time > LONGEST { Err("expected an hour at most".to_owned()) } else { Ok(time) }
}
