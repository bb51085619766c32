//! Learning: optimisers, schedules, threads that share a batch, and the loop around them.

mod best;
pub mod checkpoint;
pub mod fit;
pub mod learner;
pub mod optim;
pub mod parallel;
pub mod run;
pub mod schedule;
pub mod settings;
mod state;

pub use fit::{Fit, fit};
pub use learner::{Bound, Learner, Measure, Solution};
pub use run::{End, Evaluation, Outcome, Run, Tick, Watch, check_metric};
pub use settings::TrainSettings;
