//! The integration tests of this crate, one program: the library is linked once, and what is generic is compiled once.

mod answers;
mod asking;
mod audit;
mod common;
mod compare;
mod course;
mod demos;
mod faults;
mod folders;
mod int8;
mod pictures;
mod pooling;
mod resume;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "serve")]
mod serve_page;
#[cfg(feature = "serve")]
mod serve_security;
mod settings;

const OWN_PROGRAMS: &[&str] = &["all"];

#[test]
fn every_file_is_a_module_of_this_one() {
    for file in std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests")).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        if let Some(module) = name.strip_suffix(".rs").filter(|module| !OWN_PROGRAMS.contains(module)) {
            assert!(include_str!("all.rs").contains(&format!("\nmod {module};\n")), "tests/{name} is in no test program");
        }
    }
}
