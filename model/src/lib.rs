//! The PTX memory model as data, and what it is judged on.
