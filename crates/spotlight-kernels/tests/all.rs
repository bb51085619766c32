//! The integration tests of this crate, one program: the library is linked once, and what is generic is compiled once.

mod attend;
mod bytes;
mod common;
mod product;
mod rows;
mod segments;

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
