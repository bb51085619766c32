//! A short run of `examples/fuzz.rs`: broken files are refused, never a panic.

#[path = "../fuzz/mod.rs"]
mod fuzz;

const INPUTS: u64 = 2000;

#[test]
fn broken_files_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    for target in &fuzz::targets::TARGETS {
        let outcome = fuzz::run(target, 7, 0, INPUTS, folder.path(), None);
        assert!(outcome.found.is_empty(), "{}: {:?}", target.name, outcome.found);
        // A mutator that breaks everything, or nothing, tests nothing.
        assert!(outcome.read > 0 && outcome.refused > 0, "{}: {outcome:?}", target.name);
    }
}

#[test]
fn seeds_are_whole_and_inputs_repeat() {
    let folder = tempfile::tempdir().unwrap();
    for target in &fuzz::targets::TARGETS {
        let seeds = fuzz::seeds(target.name);
        assert!(seeds.iter().any(|seed| (target.read)(seed, folder.path())), "{}: no seed is read", target.name);
        assert_eq!(fuzz::mutate::input(&seeds, 7, 3), fuzz::mutate::input(&seeds, 7, 3));
        assert_ne!(fuzz::mutate::input(&seeds, 7, 3), fuzz::mutate::input(&seeds, 7, 4));
    }
}
