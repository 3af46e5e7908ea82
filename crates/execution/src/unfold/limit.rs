//! Why a program is given up.

/// Why a program could not be unfolded in full.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnfoldLimit {
    /// More paths through one thread than are listed.
    Paths,
    /// More events in one path than are supported.
    Events,
    /// More instructions in one path than are followed.
    Steps,
    /// A state of an mbarrier object that comes from memory, or has one of too many pending counts.
    PhaseState,
    /// An address of tensor memory with a lane.
    TensorLane,
    /// More ways to group barrier arrivals than are listed.
    Barriers,
    /// The caller's time is over.
    Time,
    /// More bytes are held than the caller grants.
    Memory,
    /// The caller does not want it any more.
    Interrupted,
}

impl UnfoldLimit {
    /// Whether it is a limit that the caller sets, and not one of the program.
    pub fn is_of_caller(self) -> bool {
        match self {
            UnfoldLimit::Time | UnfoldLimit::Memory | UnfoldLimit::Interrupted => true,
            UnfoldLimit::Paths
            | UnfoldLimit::Events
            | UnfoldLimit::Steps
            | UnfoldLimit::Barriers
            | UnfoldLimit::PhaseState
            | UnfoldLimit::TensorLane => false,
        }
    }
}

/// Where paths are cut although the thread goes on.
#[derive(Clone, Copy, Debug)]
pub struct PathCut {
    /// With so many paths, those that are not at their end.
    pub paths: usize,
    /// A path with so many events.
    pub events: usize,
}

/// Says which of the caller's limits is reached, if one is, when about this many bytes are held.
pub type Ends<'t> = &'t dyn Fn(usize) -> Option<UnfoldLimit>;
