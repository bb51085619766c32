//! The `spotlight` command.
#![forbid(unsafe_code)]
fn main() {}
