//! The Z3 library that the checker is linked with: its build script finds or fetches it.
