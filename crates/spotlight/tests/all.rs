//! The integration tests of this crate, one program: the library is linked once, and what is generic is compiled once.
//! `streaming_memory.rs` counts the allocations of its process, so it is one of its own.

mod attention;
mod attention_golden;
mod attention_gradients;
mod attention_properties;
mod broken_files;
mod common;
mod errors;
mod folder;
mod fused;
mod gradients;
mod known;
mod matcher;
mod parity;
mod pooling_examples;
mod same_bits;
mod sample_files;
mod search;
mod streaming;
mod training;
mod transformer;
mod view;
mod view_page;
mod weights;

const OWN_PROGRAMS: &[&str] = &["all", "streaming_memory"];

#[test]
fn every_file_is_a_module_of_this_one() {
    for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        if let Some(module) = name.strip_suffix(".rs").filter(|module| !OWN_PROGRAMS.contains(module)) {
            assert!(include_str!("all.rs").contains(&format!("\nmod {module};\n")), "tests/{name} is in no test program");
        }
    }
}
