//! The Z3 library that the checker asks: the build script of this crate finds or fetches it.
//!
//! Internal: this crate may change in any release. The crate `causeway-library` is for other programs.
