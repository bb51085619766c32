//! What each target reads. A target covers every reader of the same kind of file, and every layout.

use std::fs;
use std::path::{Path, PathBuf};

use spotlight::config::resolve;
use spotlight::model::{bags, classify, folder, matching, seq2seq};
use spotlight::params::{Init, Params};
use spotlight::text::read::{BagColumns, Header, Table, TableFormat, ThirdColumn, candidate_of, source_of, text_of};
use spotlight::text::subwords::{Algorithm, Subwords};
use spotlight::text::vectors::WordVectors;
use spotlight::text::{FeaturePlace, Features, Inventory, Lines, Vocab};
use spotlight::{train, weights};

/// A reader, or several that read the same kind of file.
pub struct Target {
    /// Its name, and that of its folder of seeds.
    pub name: &'static str,
    /// Reads an input; whether it was taken. The folder is for readers that want a file.
    pub read: fn(&[u8], &Path) -> bool,
}

/// All readers of the library.
pub const TARGETS: [Target; 9] = [
    Target { name: "tables", read: tables },
    Target { name: "inputs", read: inputs },
    Target { name: "bags", read: read_bags },
    Target { name: "toml", read: toml },
    Target { name: "vocabularies", read: vocabularies },
    Target { name: "subwords", read: subwords },
    Target { name: "safetensors", read: safetensors },
    Target { name: "checkpoint", read: checkpoint },
    Target { name: "vectors", read: vectors },
];

/// The usual layouts, and one that follows from the input, so that every setting meets every kind of damage.
fn layouts(input: &[u8]) -> [(&'static str, TableFormat); 3] {
    // FNV-1a: a changed byte may change the layout.
    let hash = input.iter().fold(0xcbf2_9ce4_8422_2325u64, |h, &byte| (h ^ byte as u64).wrapping_mul(0x0100_0000_01b3));
    let pick = |shift: u32, among: usize| (hash >> shift) as usize % among;
    let format = TableFormat {
        separator: ["", ";", "tab", "|", ","][pick(8, 5)].into(),
        header: [Header::Auto, Header::Yes, Header::No][pick(16, 3)],
        columns: ["", "", "2,1", "-1,1", "text,label", "1,2,3", "source,target,features", "9223372036854775807,1"][pick(24, 8)].into(),
        longest: [10_000, 20, 1_000_000][pick(32, 3)],
    };
    [("a.tsv", TableFormat::default()), ("a.csv", TableFormat::default()), (["a.tsv", "a.csv", "-"][pick(40, 3)], format)]
}

fn tables(input: &[u8], _: &Path) -> bool {
    let mut read = 0;
    for (name, format) in &layouts(input) {
        let table = || Table::new(input, *name, format);
        for third in [ThirdColumn::AsFirstLine, ThirdColumn::Features, ThirdColumn::Absent] {
            read += told(table().pairs(third));
        }
        read += told(table().labelled());
        for id_column in [false, true] {
            read += told(table().questions(id_column));
        }
    }
    read > 0
}

/// Whether it was read; whatever there is to say about it is said, for saying it must not panic either.
fn told<T>(read: Result<spotlight::text::read::Examples<T>, spotlight::text::TextError>) -> usize {
    match read {
        Ok(read) => {
            let notes: Vec<String> = read.notes.iter().map(ToString::to_string).collect();
            assert!(!read.examples.is_empty() && notes.iter().all(|note| !note.is_empty()));
            1
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            0
        }
    }
}

fn inputs(input: &[u8], _: &Path) -> bool {
    let mut read = 0;
    for (name, format) in &layouts(input) {
        let table = || Table::new(input, *name, format);
        for with in [false, true] {
            read += table().sources(with).map_or(0, |rows| rows.filter(Result::is_ok).count());
            read += table().candidates(with).map_or(0, |rows| rows.filter(Result::is_ok).count());
        }
        read += table().texts().map_or(0, |rows| rows.filter(Result::is_ok).count());
    }
    // The same lines, each alone, as they come from a terminal.
    let path = Path::new("-");
    for line in Lines::new(input, "-").flatten() {
        for with in [false, true] {
            read += source_of(path, &line, with, 100).is_ok() as usize + candidate_of(path, &line, with, 100).is_ok() as usize;
        }
        read += text_of(path, &line, 100).is_ok() as usize;
    }
    read > 0
}

fn read_bags(input: &[u8], _: &Path) -> bool {
    let mut read = 0;
    for columns in [BagColumns::default(), BagColumns { label: -1, bag: None }, BagColumns { label: isize::MIN, bag: Some(isize::MAX) }] {
        for (name, format) in &layouts(input)[1..] {
            read += told(Table::new(input, *name, format).bags(columns));
        }
    }
    read > 0
}

fn toml(input: &[u8], _: &Path) -> bool {
    let text = String::from_utf8_lossy(input);
    let _ = folder::task_of(&text);
    let change: Vec<String> = text.lines().rev().take(1).map(str::to_owned).collect();
    let mut read = 0;
    for changes in [&[][..], &change] {
        read += resolve(&seq2seq::Config::default(), &text, changes).is_ok_and(|config| config.check().is_ok()) as usize;
        read += resolve(&classify::Config::default(), &text, changes).is_ok_and(|config| config.check().is_ok()) as usize;
        read += resolve(&matching::Config::default(), &text, changes).is_ok_and(|config| config.check().is_ok()) as usize;
        read += resolve(&bags::Config::default(), &text, changes).is_ok_and(|config| config.check().is_ok()) as usize;
    }
    read > 0
}

fn vocabularies(input: &[u8], folder: &Path) -> bool {
    let features = Features::load(file(folder, "features.txt", input), 10, FeaturePlace::Append).is_ok();
    Vocab::read_from(input, "source.txt").is_ok() | Inventory::read_from(input, "labels.txt").is_ok() | features
}

fn subwords(input: &[u8], folder: &Path) -> bool {
    let path = file(folder, "source.json", input);
    let mut read = 0;
    for algorithm in [Algorithm::Bpe, Algorithm::Unigram] {
        if let Ok(table) = Subwords::load(algorithm, &path) {
            // A table that was taken must be fit for use.
            let ids: Vec<u32> = table.encode("the cat sät ▁ 😀 \u{0}").into_iter().map(|unit| unit.id).collect();
            assert!(ids.iter().all(|&id| (id as usize) < table.len()));
            read += 1;
        }
    }
    read > 0
}

fn safetensors(input: &[u8], folder: &Path) -> bool {
    let mut params = Params::<f32>::new(1);
    params.add("output.weight", &[2, 3], Init::Zeros);
    params.add("output.bias", &[2], Init::Zeros);
    let read = weights::load(&mut params, &file(folder, "model.safetensors", input)).is_ok();
    assert!(params.flat().iter().all(|x| x.is_finite()));
    read
}

fn checkpoint(input: &[u8], folder: &Path) -> bool {
    train::checkpoint::load(&file(folder, "state.safetensors", input)).is_ok()
}

fn vectors(input: &[u8], _: &Path) -> bool {
    WordVectors::read_from(input, "vectors.txt", |word| word.len().try_into().ok()).is_ok()
}

/// Writes an input for a reader that wants a file.
fn file(folder: &Path, name: &str, input: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, input).expect("a folder that can be written");
    path
}
