//! The Z3 library that the checker asks: the build script of this crate finds or fetches it.
