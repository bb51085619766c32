//! Lines of text from any reader, one at a time.
//!
//! A file that a user made may hold anything. So a line is read as bytes first: a byte order mark at the start and the line
//! ending (LF or CRLF) are dropped, and a line that is not UTF-8 or absurdly long is an error *for that line*. The next call
//! goes on with the next line, so that prediction can answer every line it can read. An input that begins with the byte
//! order mark of UTF-16 is read as UTF-16; columns of errors then count in its units of two bytes.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::utf16::{self, Order, Start};
use super::{Fault, TextError};

/// The most characters a line may have.
pub const MAX_LINE_CHARS: usize = 1_000_000;

/// A line with more bytes than this has more than [`MAX_LINE_CHARS`] characters, whatever they are; the rest is not kept.
pub(super) const MAX_LINE_BYTES: usize = 4 * MAX_LINE_CHARS + 2;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A line without its ending, and its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The text; empty for an empty line.
    pub text: String,
    /// The line's number, counted from 1.
    pub number: usize,
}

/// Reads [`Line`]s lazily. After an error for one line it goes on with the next; a failure of the reader itself ends it.
///
/// ```
/// use spotlight::text::Lines;
///
/// let input: &[u8] = b"one\n\nthr\xE9e\nfour\r\n";
/// let lines: Vec<_> = Lines::new(input, "-").collect();
/// assert_eq!(lines[0].as_ref().unwrap().text, "one");
/// assert_eq!(lines[1].as_ref().unwrap().text, "");
/// assert!(lines[2].as_ref().unwrap_err().to_string().starts_with("-:3:4: byte 0xE9 is not valid UTF-8"));
/// assert_eq!(lines[3].as_ref().unwrap().text, "four");
/// ```
#[derive(Debug)]
pub struct Lines<R> {
    reader: R,
    path: PathBuf,
    number: usize,
    failed: bool,
    /// Set for an input in UTF-16.
    utf16: Option<Order>,
}

impl Lines<BufReader<File>> {
    /// Reads the lines of a file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TextError> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|source| TextError::read(path, source))?;
        Ok(Self::new(BufReader::new(file), path))
    }
}

impl Lines<Box<dyn BufRead>> {
    /// Reads the lines of a file, or of standard input for `-`.
    pub fn open_or_stdin(path: impl AsRef<Path>) -> Result<Self, TextError> {
        let path = path.as_ref();
        if path == Path::new("-") {
            return Ok(Self::new(Box::new(BufReader::new(io::stdin())), path));
        }
        let file = File::open(path).map_err(|source| TextError::read(path, source))?;
        Ok(Self::new(Box::new(BufReader::new(file)), path))
    }
}

impl<R: BufRead> Lines<R> {
    /// Reads lines from `reader`; errors call it `path` (`-` for standard input).
    pub fn new(reader: R, path: impl Into<PathBuf>) -> Self {
        Self { reader, path: path.into(), number: 0, failed: false, utf16: None }
    }

    /// The name of the input in errors.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The next line as text, or what is wrong with it; none at the end.
    fn next_text(&mut self) -> io::Result<Option<Result<String, TextError>>> {
        let mut before = None;
        if self.number == 0 {
            match utf16::start(&mut self.reader)? {
                Start::Utf16(order) => self.utf16 = Some(order),
                Start::Other(first) => before = first,
            }
        }
        let text = match self.utf16 {
            Some(order) => utf16::read_line(&mut self.reader, order, 2 * MAX_LINE_CHARS)?.map(|units| (Vec::new(), Some(units))),
            None => read_line(&mut self.reader, before)?.map(|bytes| (bytes, None)),
        };
        Ok(text.map(|(bytes, units)| {
            self.number += 1;
            units.map_or_else(|| self.text_of(bytes), |units| self.text_of_units(units))
        }))
    }

    fn too_long(&self) -> TextError {
        TextError::at(&self.path, self.number, None, Fault::LineTooLong { limit: MAX_LINE_CHARS })
    }

    fn text_of_units(&self, line: utf16::Units) -> Result<String, TextError> {
        let mut text = String::with_capacity(line.units.len());
        let mut column = 1;
        for unit in char::decode_utf16(line.units) {
            let c =
                unit.map_err(|error| TextError::at(&self.path, self.number, column, Fault::NotUtf16 { unit: error.unpaired_surrogate() }))?;
            column += c.len_utf16();
            text.push(c);
        }
        if line.more || (text.len() > MAX_LINE_CHARS && text.chars().count() > MAX_LINE_CHARS) {
            return Err(self.too_long());
        }
        match line.half {
            true => Err(TextError::at(&self.path, self.number, column, Fault::HalfUtf16)),
            false => Ok(text),
        }
    }

    fn text_of(&self, mut bytes: Vec<u8>) -> Result<String, TextError> {
        if bytes.ends_with(b"\n") {
            bytes.pop();
            if bytes.ends_with(b"\r") {
                bytes.pop();
            }
        }
        // Columns of errors count from the first byte of the file's line, so the mark counts although it is dropped.
        let dropped = if self.number == 1 && bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        bytes.drain(..dropped);
        if bytes.len() >= MAX_LINE_BYTES {
            return Err(self.too_long());
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let at = error.utf8_error().valid_up_to();
            let fault = Fault::NotUtf8 { byte: error.as_bytes()[at] };
            TextError::at(&self.path, self.number, dropped + at + 1, fault)
        })?;
        if text.len() > MAX_LINE_CHARS && text.chars().count() > MAX_LINE_CHARS {
            return Err(self.too_long());
        }
        Ok(text)
    }
}

impl<R: BufRead> Iterator for Lines<R> {
    type Item = Result<Line, TextError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        match self.next_text() {
            Ok(None) => None,
            Ok(Some(text)) => Some(text.map(|text| Line { text, number: self.number })),
            Err(source) => {
                self.failed = true;
                Some(Err(TextError::read(&self.path, source)))
            }
        }
    }
}

/// The next line with its ending, at most [`MAX_LINE_BYTES`] of it, behind a byte of it that was read `before`; none at the end of the input.
pub(super) fn read_line(reader: &mut impl BufRead, before: Option<u8>) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::from_iter(before);
    loop {
        let buffer = match reader.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if buffer.is_empty() {
            return Ok((!line.is_empty()).then_some(line));
        }
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let length = end.map_or(buffer.len(), |end| end + 1);
        let room = MAX_LINE_BYTES - line.len();
        line.extend_from_slice(&buffer[..length.min(room)]);
        reader.consume(length);
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Vec<Result<String, String>> {
        let lines = Lines::new(bytes, "in");
        lines.map(|line| line.map(|line| line.text).map_err(|error| error.to_string())).collect()
    }

    fn ok(texts: &[&str]) -> Vec<Result<String, String>> {
        texts.iter().map(|text| Ok(text.to_string())).collect()
    }

    #[test]
    fn endings_and_byte_order_mark_are_dropped() {
        assert_eq!(read(b""), ok(&[]));
        assert_eq!(read(b"a"), ok(&["a"]));
        assert_eq!(read(b"a\n"), ok(&["a"]));
        assert_eq!(read(b"a\r\nb\n\nc\r"), ok(&["a", "b", "", "c\r"]));
        assert_eq!(read(b"\xEF\xBB\xBFa\n\xEF\xBB\xBFb"), ok(&["a", "\u{FEFF}b"]));
    }

    #[test]
    fn numbers_count_bad_lines_too() {
        let mut lines = Lines::new(&b"a\n\xFF\nc"[..], "in");
        assert_eq!(lines.next().unwrap().unwrap().number, 1);
        assert!(lines.next().unwrap().is_err());
        assert_eq!(lines.next().unwrap().unwrap(), Line { text: "c".into(), number: 3 });
        assert!(lines.next().is_none());
    }

    #[test]
    fn the_column_of_a_bad_byte_counts_the_byte_order_mark() {
        let error = read(b"\xEF\xBB\xBFab\xE9").pop().unwrap().unwrap_err();
        assert!(error.starts_with("in:1:6: byte 0xE9"), "{error}");
    }

    #[test]
    fn long_lines_work_and_absurd_ones_are_refused() {
        let long = "ü".repeat(MAX_LINE_CHARS);
        assert_eq!(read(format!("{long}\nb").as_bytes()), ok(&[&long, "b"]));

        for unit in ["a", "😀"] {
            let absurd = unit.repeat(MAX_LINE_CHARS + 1);
            let lines = read(format!("{absurd}{absurd}\nb").as_bytes());
            assert!(lines[0].as_ref().unwrap_err().starts_with("in:1: the line has more than 1000000"));
            assert_eq!(lines[1..], ok(&["b"]));
        }
    }

    #[test]
    fn utf16_is_read_by_its_byte_order_mark() {
        let encoded = |text: &str, bytes: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
        for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
            assert_eq!(read(&encoded("\u{FEFF}aé\tb\r\n\n😀", bytes)), ok(&["aé\tb", "", "😀"]));
            let broken = [encoded("\u{FEFF}a😀", bytes), bytes(0xD800).to_vec(), encoded("\nb", bytes)].concat();
            let lines = read(&broken);
            assert!(lines[0].as_ref().unwrap_err().starts_with("in:1:4: 0xD800 is half of a UTF-16 character"), "{lines:?}");
            assert_eq!(lines[1..], ok(&["b"]));
            let long = encoded(&format!("\u{FEFF}{}\nb", "a".repeat(2 * MAX_LINE_CHARS + 1)), bytes);
            let lines = read(&long);
            assert!(lines[0].as_ref().unwrap_err().starts_with("in:1: the line has more than 1000000"));
            assert_eq!(lines[1..], ok(&["b"]));
        }
        let cut = read(b"\xFF\xFEa\0b");
        assert!(cut[0].as_ref().unwrap_err().starts_with("in:1:2: the input ends in the middle of a UTF-16 character"), "{cut:?}");
        // A byte FF alone is not a mark, wherever the reader's buffer ends.
        for (bytes, place) in [(&b"\xFFa"[..], "in:1:1: byte 0xFF"), (b"\xFE", "in:1:1: byte 0xFE")] {
            let one_byte_at_a_time = BufReader::with_capacity(1, bytes);
            let error = Lines::new(one_byte_at_a_time, "in").next().unwrap().unwrap_err().to_string();
            assert!(error.starts_with(place), "{error}");
        }
    }

    #[test]
    fn a_failing_reader_ends_the_lines() {
        struct Broken;
        impl io::Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("unplugged"))
            }
        }
        let mut lines = Lines::new(BufReader::new(Broken), "in");
        assert_eq!(lines.next().unwrap().unwrap_err().to_string(), "cannot read in: unplugged");
        assert!(lines.next().is_none());
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = Lines::open("no/such/file.tsv").unwrap_err().to_string();
        assert!(error.starts_with("cannot read no/such/file.tsv: "), "{error}");
    }
}
