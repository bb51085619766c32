//! The form of a classifier whose words give evidence: units and their table ([`units`]), the network ([`net`]).

pub mod net;
pub mod units;

pub use net::{EvidenceNet, Judged};
pub use units::{EvidenceText, UnitTable};
