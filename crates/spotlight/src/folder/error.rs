//! What can be wrong with a folder, as values.

use std::path::PathBuf;

use super::lock::Holder;

/// What is wrong with a model's folder.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// A folder that holds something else.
    #[error("{} is not a model's folder: {file} in it is not ours. Choose another --out, or write beside it with --force", folder.display())]
    Foreign {
        /// The folder.
        folder: PathBuf,
        /// One of the files that are not ours.
        file: String,
    },
    /// A folder that holds a finished model.
    #[error("{} already holds a model: choose another --out, or replace it with --force", folder.display())]
    Taken {
        /// The folder.
        folder: PathBuf,
    },
    /// A folder that holds the models of a cross-validation or of an ensemble.
    #[error("{} already holds several models: choose another --out, or replace them with --force", folder.display())]
    TakenByFolds {
        /// The folder.
        folder: PathBuf,
    },
    /// A folder that holds a run that was interrupted.
    #[error("{} already holds a model whose training was interrupted: go on with --resume, choose another --out, or start over with --force", folder.display())]
    TakenByInterrupted {
        /// The folder.
        folder: PathBuf,
    },
    /// A file that is not ours has a name that the model needs. It is never replaced.
    #[error("{} is not a file of ours, and is not overwritten: choose another --out", file.display())]
    Clash {
        /// The file.
        file: PathBuf,
    },
    /// Somebody else writes there.
    #[error("{} is being written by {}: wait for it, or choose another --out",
        folder.display(), holder.as_ref().map_or_else(|| "another process".into(), Holder::to_string))]
    Locked {
        /// The folder.
        folder: PathBuf,
        /// Who, as far as is known.
        holder: Option<Holder>,
    },
    /// A run to be resumed that is at its end.
    #[error("{place} holds a finished run{length}: there is nothing to resume. To train it further: spotlight train --from {place} --out OTHER. \
             To train anew for longer: spotlight train {place}/config.toml --set train.epochs=N --out OTHER",
        place = folder.display(), length = epochs.map_or_else(String::new, |n| format!(" of {n} epochs")))]
    Finished {
        /// The folder.
        folder: PathBuf,
        /// Epochs it has run, if that is written there.
        epochs: Option<u64>,
    },
    /// A run to be resumed that is not there.
    #[error("there is nothing to resume in {}: start without --resume", folder.display())]
    Nothing {
        /// The folder.
        folder: PathBuf,
    },
    /// A run to be resumed with other settings or data.
    #[error("{} belongs to other settings or other data; use them again, or start anew without --resume", folder.display())]
    OtherRun {
        /// The folder.
        folder: PathBuf,
    },
    /// A model to be read whose training has not got to its first evaluation.
    #[error("{place} has no weights yet: its training was interrupted before the first evaluation. Go on with: spotlight train --resume --out {place}",
        place = folder.display())]
    NoWeights {
        /// The folder.
        folder: PathBuf,
    },
    /// A file that is not the one that was written with the model.
    #[error("{}: {problem}", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// A model wants to write a file that is not in the list of names.
    #[error("{name} is not in the list of files that a model's folder may hold")]
    Unlisted {
        /// The name.
        name: String,
    },
}

impl FolderError {
    /// Whether another command line would help, rather than another file or a little patience.
    pub fn is_usage(&self) -> bool {
        use FolderError as E;
        !matches!(self, E::Locked { .. } | E::OtherRun { .. } | E::NoWeights { .. } | E::Damaged { .. } | E::Unlisted { .. })
    }
}
