//! Lines of UTF-16, as some editors and spreadsheets write "Unicode text".
//!
//! Such a file begins with a byte order mark, FF FE or FE FF. Neither byte ever occurs in UTF-8, so the first byte of an input tells the two apart.

use std::io::{self, BufRead};

/// Which byte of a unit comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Little,
    Big,
}

/// What the input begins with.
pub(super) enum Start {
    /// A byte order mark of UTF-16, which has been consumed.
    Utf16(Order),
    /// Anything else; a byte that had to be consumed to see it.
    Other(Option<u8>),
}

/// Looks at the first bytes. No more is waited for than is needed: a first byte that is not FF or FE stays where it is.
pub(super) fn start(reader: &mut impl BufRead) -> io::Result<Start> {
    let order = match peek(reader)? {
        Some(0xFF) => Order::Little,
        Some(0xFE) => Order::Big,
        _ => return Ok(Start::Other(None)),
    };
    let (first, second) = if order == Order::Little { (0xFF, 0xFE) } else { (0xFE, 0xFF) };
    reader.consume(1);
    if peek(reader)? == Some(second) {
        reader.consume(1);
        return Ok(Start::Utf16(order));
    }
    Ok(Start::Other(Some(first)))
}

/// A line of UTF-16 units without its ending.
pub(super) struct Units {
    /// The units, at most as many as asked for.
    pub units: Vec<u16>,
    /// Whether there were more.
    pub more: bool,
    /// Whether the input ended within a unit.
    pub half: bool,
}

/// The next line, at most `most` units of it; none at the end of the input.
pub(super) fn read_line(reader: &mut impl BufRead, order: Order, most: usize) -> io::Result<Option<Units>> {
    let mut line = Units { units: Vec::new(), more: false, half: false };
    let mut any = false;
    while let Some(first) = next(reader)? {
        any = true;
        let Some(second) = next(reader)? else {
            line.half = true;
            break;
        };
        let unit = match order {
            Order::Little => u16::from_le_bytes([first, second]),
            Order::Big => u16::from_be_bytes([first, second]),
        };
        if unit == u16::from(b'\n') {
            if line.units.last() == Some(&u16::from(b'\r')) {
                line.units.pop();
            }
            break;
        }
        match line.units.len() < most {
            true => line.units.push(unit),
            false => line.more = true,
        }
    }
    Ok(any.then_some(line))
}

fn peek(reader: &mut impl BufRead) -> io::Result<Option<u8>> {
    loop {
        match reader.fill_buf() {
            Ok(buffer) => return Ok(buffer.first().copied()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn next(reader: &mut impl BufRead) -> io::Result<Option<u8>> {
    let byte = peek(reader)?;
    if byte.is_some() {
        reader.consume(1);
    }
    Ok(byte)
}
