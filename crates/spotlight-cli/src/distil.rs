//! `spotlight distil`

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use spotlight::model::seq2seq::hard::Hard;
use spotlight::model::seq2seq::recombine::recombined;
use spotlight::model::{self, Task, folder};
use spotlight::text::Pair;
use spotlight::text::read::Table;
use spotlight::weights::write_whole;

use crate::Common;
use crate::output::{WrongUsage, grouped, note};
use crate::tasks;
use crate::train::{Train, toml_string};

/// Train one model to say what a model or an ensemble says.
///
/// It learns from the examples of its teacher and from sources without answers, which the teacher answers. What it learns from is kept beside its folder.
#[derive(Args)]
pub struct Distil {
    /// Folder of the teacher: an ensemble, or a model
    teacher: PathBuf,
    /// File of sources without answers; more columns than the sources and their features are not read
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Let the teacher also answer N sources of its examples with features that others have there (of the same first tag): more forms of the same words
    #[arg(long, value_name = "N", default_value_t = 0)]
    recombine: usize,
    /// Folder for the model
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// Hypotheses that the teacher keeps when it answers
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    beam: u16,
    /// Change a setting, such as model.hidden=64 for a smaller model
    #[arg(long = "set", value_name = "KEY=VALUE")]
    changes: Vec<String>,
    /// Replace a model that is in the folder; files that are not a model's stay
    #[arg(long)]
    force: bool,
    /// Say nothing but warnings and errors on standard error; log.txt in the folder has it all
    #[arg(long, short)]
    quiet: bool,
}

/// Where the examples of a part stand: beside the folder of the model.
fn beside(out: &Path, part: &str) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{part}.tsv"));
    out.with_file_name(name)
}

/// Pairs as lines.
fn write(path: &Path, pairs: &[Pair]) -> Result<()> {
    let line = |p: &Pair| match &p.features {
        Some(features) => format!("{}\t{}\t{features}\n", p.source, p.target),
        None => format!("{}\t{}\n", p.source, p.target),
    };
    Ok(write_whole(path, pairs.iter().map(line).collect::<String>().as_bytes())?)
}

impl Distil {
    /// Runs the command.
    pub fn run(&self, common: &Common) -> Result<()> {
        drop(folder::claim(&self.out, self.force)?);
        let opened = model::open(&self.teacher)?;
        let Ok(teacher) = tasks::writer(opened.as_ref(), "distil") else {
            return Err(WrongUsage(format!("distil goes with seq2seq models, this one is for {}", opened.task().name())).into());
        };
        let config = &teacher.config;
        if self.recombine > 0 && !config.data.features {
            return Err(WrongUsage("--recombine goes with models that read features, a third column; this one reads none".into()).into());
        }
        let told = |key: &str| self.changes.iter().any(|change| change.split('=').next().is_some_and(|own| own.trim() == key));
        if config.model.hard != Hard::Off && !told("model.hard") {
            let problem = "this teacher has hard attention, and its pupil cannot: it would learn a sum over all ways to walk, a teacher speaks of one unit after the other; add --set model.hard=off";
            return Err(WrongUsage(problem.into()).into());
        }
        let mut sources = match &self.from {
            Some(file) => {
                let rows = Table::open(file, &config.data.format.for_input())?.sources(config.data.features)?;
                rows.map(|row| row.map(|s| (s.source, s.features))).collect::<Result<Vec<_>, _>>()?
            }
            None => Vec::new(),
        };
        let tell = |line: &str| {
            if !self.quiet {
                note(line);
            }
        };
        // What cannot be as the teacher has it.
        for (key, set, now, why) in [
            ("model.copy", config.model.copy, "false", "a teacher speaks of the units of its vocabulary alone"),
            ("data.made_up", config.data.made_up > 0, "0", "instead of pairs that are made up it learns from what its teacher answers"),
            ("alignment.links", !config.alignment.links.is_empty(), "\"\"", "the links are those of the lines of another file"),
        ] {
            if set && !told(key) {
                tell(&format!("note: the pupil has {key} = {now}, other than its teacher: {why}"));
            }
        }
        let (mut train, dev) = teacher.own_pairs(&mut |line| tell(line))?;
        sources.extend(recombined(&train, self.recombine, common.seed.unwrap_or(config.seed)));
        train.extend(teacher.answered(&sources, self.beam.into())?);
        tell(&format!("{} examples to learn from, the answers to {} sources among them", grouped(train.len()), grouped(sources.len())));
        let files = ["train", "dev"].map(|part| beside(&self.out, part));
        write(&files[0], &train)?;
        write(&files[1], &dev)?;
        let path = |path: &Path| toml_string(&path.to_string_lossy());
        // Where it is when the run is resumed from another folder.
        let teacher_path = self.teacher.canonicalize().with_context(|| self.teacher.display().to_string())?;
        let mut changes = vec![
            format!("data.train={}", path(&files[0])),
            format!("data.dev={}", path(&files[1])),
            format!("distil.teacher={}", path(&teacher_path)),
        ];
        changes
            .extend(["data.separator=tab", "data.columns=\"\"", "data.header=no", "data.made_up=0", "model.copy=false"].map(String::from));
        changes.extend(["train.from=\"\"", "train.mix=0.0", "alignment.links=\"\""].map(String::from));
        changes.extend(common.seed.map(|seed| format!("seed={seed}")));
        changes.extend(self.changes.iter().cloned());
        // Its own settings; of an ensemble those of its first member.
        let first = folder::members(&self.teacher).into_iter().next().unwrap_or_else(|| self.teacher.clone());
        let recipe = folder::read_config(&first)?;
        let learnt = Train::of(&self.out, self.force, self.quiet).learn(Task::Seq2seq, Some(&recipe), &changes, &self.out);
        if learnt.is_err() && !self.out.exists() {
            // Refused before anything was learnt: nobody will go on with these.
            files.iter().try_for_each(std::fs::remove_file)?;
        }
        learnt
    }
}
