//! The pictures: the same numbers in every form, whatever the labels hold.

pub mod driver;
mod forms;
mod numbers;
pub mod samples;
mod text;
