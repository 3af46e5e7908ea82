//! SASS as text: every form is read, and printed as it stood.

mod corpus;
mod ldg;
mod listing;
mod measured;
mod robust;
mod words;
