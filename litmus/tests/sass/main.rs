//! SASS as text: every form is read, and printed as it stood.

mod corpus;
mod listing;
mod measured;
