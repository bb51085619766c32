//! One input from a number: a seed with a few changes, of bytes or of tokens.

use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// An input is never longer.
pub const MOST_BYTES: usize = 64 << 10;

/// What readers stumble over: separators, ends, escapes, numbers at the edge, marks of encodings, other headers.
const TOKENS: &[&[u8]] = &[
    b"",
    b"\t",
    b"\n",
    b"\r\n",
    b"\r",
    b",",
    b";",
    b"|",
    b"\"",
    b"\"\"",
    b"\\",
    b"\\u{",
    b"\\u{110000}",
    b"\\s",
    b"}",
    b"{",
    b"[",
    b"]",
    b"[[",
    b"=",
    b".",
    b"'",
    b"'''",
    b"#",
    b" ",
    b"\0",
    b"\xFF",
    b"\xFE",
    b"\xFF\xFE",
    b"\xFE\xFF",
    b"\xEF\xBB\xBF",
    b"\xED\xA0\x80",
    b"\xC3",
    b"\xF0\x9F\x98\x80",
    b"\xE2\x96\x81",
    b"0",
    b"1",
    b"-1",
    b"nan",
    b"inf",
    b"-inf",
    b"1e999",
    b"1e-999",
    b"4294967296",
    b"9223372036854775807",
    b"9223372036854775808",
    b"18446744073709551615",
    b"99999999999999999999",
    b"true",
    b"null",
    b"text\tlabel\n",
    b"source,target\n",
    b"<unk>\n",
    b"<s>\n",
    b"</s>\n",
    b"F32",
    b"F64",
    b"BF16",
    b"\"dtype\"",
    b"\"shape\"",
    b"\"data_offsets\"",
    b"__metadata__",
];

/// The input with this number.
pub fn input(seeds: &[Vec<u8>], seed: u64, number: u64) -> Vec<u8> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(number);
    let mut input = seeds.choose(&mut rng).cloned().unwrap_or_default();
    // Mostly few changes, so that the reader gets far; sometimes many.
    let changes = if rng.random_bool(0.1) { rng.random_range(8..64) } else { rng.random_range(1..6) };
    for _ in 0..changes {
        change(&mut input, seeds, &mut rng);
        input.truncate(MOST_BYTES);
    }
    input
}

fn change(input: &mut Vec<u8>, seeds: &[Vec<u8>], rng: &mut ChaCha8Rng) {
    let at = rng.random_range(0..=input.len());
    let end = input.len().min(at + rng.random_range(0..=16));
    match rng.random_range(0..11) {
        0 if at < input.len() => input[at] ^= 1 << rng.random_range(0..8),
        1 if at < input.len() => input[at] = rng.random(),
        2 => drop(input.drain(at..end)),
        3 => insert(input, at, &input[at..end].to_vec()),
        4 => input.truncate(at),
        // A piece of another seed.
        5 => {
            let other: &[u8] = seeds.choose(rng).map_or(&[], Vec::as_slice);
            let from = rng.random_range(0..=other.len());
            insert(input, at, &other[from..other.len().min(from + rng.random_range(0..200))]);
        }
        // A token in the place of another one, where words begin and end.
        6 | 7 => {
            let (start, end) = word(input, at);
            let token: &[u8] = TOKENS.choose(rng).map_or(&[], |token| token);
            input.splice(start..end, token.iter().copied());
        }
        // A line twice, or a line gone.
        8 => {
            let start = input[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
            let end = input[at..].iter().position(|&byte| byte == b'\n').map_or(input.len(), |newline| at + newline + 1);
            let line: Vec<u8> = input.drain(start..end).collect();
            if rng.random_bool(0.5) {
                insert(input, start, &[line.as_slice(), &line].concat());
            }
        }
        // A token very often.
        9 if rng.random_bool(0.1) => {
            let token: &[u8] = TOKENS.choose(rng).map_or(&[], |token| token);
            insert(input, at, &token.repeat(rng.random_range(0..2000)));
        }
        _ => {
            let token: &[u8] = TOKENS.choose(rng).map_or(&[], |token| token);
            insert(input, at, token);
        }
    }
}

fn insert(input: &mut Vec<u8>, at: usize, piece: &[u8]) {
    input.splice(at..at, piece.iter().copied());
}

/// The letters, digits, dots and signs around a place.
fn word(input: &[u8], at: usize) -> (usize, usize) {
    let within = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let start = input[..at].iter().rposition(|byte| !within(byte)).map_or(0, |before| before + 1);
    let end = input[at..].iter().position(|byte| !within(byte)).map_or(input.len(), |after| at + after);
    (start, end)
}
