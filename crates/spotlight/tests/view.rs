//! The pictures: the same numbers in every form, whatever the labels hold.

#[path = "view/samples.rs"]
mod samples;

mod view {
    mod forms;
    mod numbers;
    mod text;
}
