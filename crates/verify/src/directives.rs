//! What the directives of a kernel say of its launch: `.reqntid 32`, `.reqnctapercluster 2`.

use ptx::{LaunchBound, LaunchBoundKind};

use crate::launch::{Dim3, LaunchError, LaunchSpec};

/// The launch of a kernel with these directives: it has their clusters where it names none.
///
/// # Errors
/// If a GPU refuses it.
pub(crate) fn applied(
    bounds: &[LaunchBound],
    launch: &LaunchSpec,
) -> Result<LaunchSpec, Vec<LaunchError>> {
    let mut launch = launch.clone();
    let mut errors = Vec::new();
    let cluster = bounds.iter().find(|bound| bound.kind == LaunchBoundKind::Cluster);
    if let Some(bound) = cluster.filter(|_| launch.cluster.is_none()) {
        launch.cluster = Some(extent(bound));
        // A CTA with a GPU of its own is a grid of its own.
        let grid = if launch.gpus.is_empty() { launch.grid } else { Dim3::ONE };
        let own = LaunchSpec { grid, ..launch.clone() };
        errors.extend(own.check_cluster(extent(bound)).map(|error| error.at(bound.line)));
    }
    errors.extend(bounds.iter().filter_map(|bound| broken(bound, &launch)));
    if errors.is_empty() { Ok(launch) } else { Err(errors) }
}

/// The block of each launch of a kernel with these directives, if they say it.
pub(crate) fn block(bounds: &[LaunchBound]) -> Option<Dim3> {
    bounds.iter().find(|bound| bound.kind == LaunchBoundKind::Threads).map(extent)
}

fn extent(bound: &LaunchBound) -> Dim3 {
    let [x, y, z] = bound.extent;
    Dim3 { x, y, z }
}

/// What is wrong with a launch that has another extent than a directive says.
fn broken(bound: &LaunchBound, launch: &LaunchSpec) -> Option<LaunchError> {
    let (of, block) = (extent(bound), launch.block);
    let (what, given, remedy) = match bound.kind {
        LaunchBoundKind::Threads if of != block => ("blocks", Some(block), format!("--block {of}")),
        LaunchBoundKind::MostThreads if of.count() < block.count() => {
            let most = format!("--block {}, or less", of.count());
            ("blocks", Some(block), most)
        }
        LaunchBoundKind::Cluster if launch.cluster != Some(of) => {
            let remedy = format!("--cluster {of}; without --cluster, it is that of the kernel");
            ("clusters", launch.cluster, remedy)
        }
        LaunchBoundKind::MostOfCluster => {
            let given = launch.cluster.filter(|given| given.count() > of.count())?;
            ("clusters", Some(given), format!("--cluster {}, or less", of.count()))
        }
        LaunchBoundKind::Clusters if launch.cluster.is_none() => {
            ("clusters", None, "--cluster 2".to_owned())
        }
        LaunchBoundKind::Threads
        | LaunchBoundKind::MostThreads
        | LaunchBoundKind::Cluster
        | LaunchBoundKind::Clusters => return None,
    };
    let directive = bound.kind.directive();
    let directive = match bound.kind {
        LaunchBoundKind::Clusters => directive.to_owned(),
        LaunchBoundKind::MostOfCluster => format!("{directive} {}", of.x),
        LaunchBoundKind::Threads | LaunchBoundKind::MostThreads | LaunchBoundKind::Cluster => {
            format!("{directive} {of}")
        }
    };
    let given = given.map_or(format!("no {what}"), |given| format!("{what} of {given}"));
    let why = format!("the kernel has `{directive}`, and the launch {given}");
    Some(LaunchError::new(why).help(remedy).at(bound.line))
}
