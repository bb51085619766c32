//! The numeric loops of Spotlight: slices in, slices out.
//!
//! Every file is one idea, usually a pair `x_forward` / `x_backward`. Nothing here knows of tapes, parameters or models, and
//! nothing allocates on the hot path beyond what its caller hands in.
//!
//! # Letters
//!
//! One list, used in every file:
//!
//! | letter | meaning |
//! |---|---|
//! | `N` | rows of a packed table (all positions of all sequences) |
//! | `B` | items (sequences of a batch) |
//! | `T` | steps, the length of the longest sequence |
//! | `D` | features going in |
//! | `H` | hidden size |
//! | `A` | alignment size of additive attention |
//! | `M` | width of a memory row |
//! | `V` | vocabulary |
//!
//! # One source, several instruction sets
//!
//! The loops are plain Rust that the compiler can vectorise. The macro `simd!` compiles each of them twice, once for the
//! baseline processor and once for AVX2 with fused multiply-add, products also for AVX-512, and picks at run time; AVX2 and AVX-512 give the same bits. That choice is one of the four places with `unsafe`
//! in the project: a function compiled for AVX2 may only run where AVX2 was found. The others are a hint to the cache in [`gemm`], the
//! instructions for bytes in [`bytes`], which no plain loop becomes, and what products are made of with AVX-512: one multiplication, and eight rows that are turned.

#![warn(missing_docs)]
#![allow(clippy::too_many_arguments, reason = "a kernel takes every slice it reads or writes")]

mod float;
#[macro_use]
mod simd;

pub mod activation;
pub mod attend;
pub mod bytes;
pub mod cell;
pub mod decoder;
pub mod dropout;
pub mod gemm;
pub mod loss;
pub mod map;
pub mod norm;
pub mod optim;
pub mod pairs;
pub mod rotary;
pub mod scan;
pub mod segment;
pub mod streaming;
#[cfg(feature = "time-products")]
pub mod timing;

pub use float::Float;
