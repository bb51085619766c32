//! Learning: optimisers, schedules, threads that share a batch, and the loop around them.

pub mod checkpoint;
pub mod fit;
pub mod learner;
pub mod optim;
pub mod parallel;
pub mod run;
pub mod schedule;
pub mod settings;

pub use fit::{Fit, fit};
pub use learner::{Learner, Measure};
pub use run::{End, Evaluation, Outcome, Run, Tick, Watch};
pub use settings::TrainSettings;
