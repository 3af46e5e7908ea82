//! Pictures: execution graphs, as DOT, SVG and parts of HTML pages.
//!
//! Read in this order: `graph` (what is drawn), `layout` (where the boxes are), `route` (where the edges and their
//! labels are), `svg` (the picture), `page` (HTML around pictures). `dot` writes the same graph for Graphviz. All text is
//! escaped by `xml`: names and comments of tests may hold anything.
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.

pub mod dot;
mod drawn;
mod geometry;
pub mod graph;
mod layout;
pub mod page;
mod route;
pub mod svg;
pub mod timeline;
pub mod xml;
