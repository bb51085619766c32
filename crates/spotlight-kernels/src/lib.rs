//! The numeric loops of Spotlight.
