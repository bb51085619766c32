//! Pretrained word vectors from a text file, as word2vec and GloVe write them.
//!
//! A line is a word and its numbers, separated by blanks. A first line of two integers (how many words, how many numbers
//! each) is a header and may be there or not. Such files hold millions of words, so only those of the vocabulary are kept,
//! and only their numbers are parsed; but every row is counted, so that a damaged file does not pass.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::Path;

use super::lines::{MAX_LINE_BYTES, read_line};
use super::{Fault, TextError};

/// Vectors of those words that the file has, by their numbers in the vocabulary.
#[derive(Debug, Clone, PartialEq)]
pub struct WordVectors {
    /// How many numbers a vector has.
    pub dim: usize,
    /// The vectors found. A word that stands in the file twice has the first.
    pub vectors: HashMap<u32, Vec<f32>>,
}

impl WordVectors {
    /// Reads the vectors of words for which `id` gives a number.
    ///
    /// ```no_run
    /// use spotlight::text::vectors::WordVectors;
    /// # let vocab = spotlight::text::Vocab::count(["cat"], 1, None);
    ///
    /// let found = WordVectors::read("vectors.txt", |word| vocab.id(word))?;
    /// println!("{} of {} words have a vector of {} numbers", found.vectors.len(), vocab.len(), found.dim);
    /// # Ok::<(), spotlight::text::TextError>(())
    /// ```
    pub fn read(path: impl AsRef<Path>, id: impl Fn(&str) -> Option<u32>) -> Result<Self, TextError> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|source| TextError::read(path, source))?;
        Self::read_from(BufReader::new(file), path, id)
    }

    /// The first `most` words of such a file, which usually has the most frequent first. What is wrong with its rows is found when vectors are read.
    pub fn first_words(path: impl AsRef<Path>, most: usize) -> Result<Vec<String>, TextError> {
        let path = path.as_ref();
        let file = File::open(path).map_err(|source| TextError::read(path, source))?;
        let mut words = Vec::new();
        walk(BufReader::new(file), path, |row, dim| {
            if words.len() == most {
                return Ok(ControlFlow::Break(()));
            }
            if let Ok((Some(word), _)) = row.split(dim) {
                words.push(word.to_string());
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(words)
    }

    /// Reads vectors from any reader; errors call it `path`.
    pub fn read_from(reader: impl BufRead, path: impl AsRef<Path>, id: impl Fn(&str) -> Option<u32>) -> Result<Self, TextError> {
        let path = path.as_ref();
        let mut found: Option<WordVectors> = None;
        let Walked { header, rows } = walk(reader, path, |row, dim| {
            let found = found.get_or_insert_with(|| WordVectors { dim, vectors: HashMap::new() });
            let (word, numbers) = row.split(dim)?;
            if let Some(id) = word.and_then(&id)
                && !found.vectors.contains_key(&id)
            {
                let numbers: Result<Vec<f32>, TextError> = numbers.map(|field| row.number(field)).collect();
                found.vectors.insert(id, numbers?);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        if let Some(Header { rows: promised, .. }) = header
            && promised != rows
        {
            return Err(TextError::at(path, 1, None, Fault::RowCount { promised, found: rows }));
        }
        found.ok_or_else(|| TextError::EmptyFile { path: path.to_owned(), expected: "one word with its numbers per line" })
    }
}

/// What a walk over all rows of a file has seen.
struct Walked {
    header: Option<Header>,
    rows: usize,
}

/// Goes over the rows of a file until `visit` breaks off; it is told how many numbers a row has, which the header says, or the first row.
fn walk(
    mut reader: impl BufRead,
    path: &Path,
    mut visit: impl FnMut(&Row, usize) -> Result<ControlFlow<()>, TextError>,
) -> Result<Walked, TextError> {
    let mut walked = Walked { header: None, rows: 0 };
    let mut dim = None;
    let mut line = 0;
    while let Some(bytes) = read_line(&mut reader, None).map_err(|source| TextError::read(path, source))? {
        line += 1;
        if bytes.len() >= MAX_LINE_BYTES {
            return Err(TextError::at(path, line, None, Fault::LineTooLong { limit: MAX_LINE_BYTES }));
        }
        if line == 1 {
            walked.header = Header::parse(&bytes);
            if walked.header.is_some() {
                continue;
            }
        }
        walked.rows += 1;
        let row = Row::new(path, line, &bytes);
        let dim = *dim.get_or_insert_with(|| walked.header.as_ref().map_or(row.fields.len().saturating_sub(1), |header| header.dim));
        if visit(&row, dim)?.is_break() {
            break;
        }
    }
    Ok(walked)
}

struct Header {
    rows: usize,
    dim: usize,
}

impl Header {
    fn parse(line: &[u8]) -> Option<Self> {
        let mut fields = std::str::from_utf8(line).ok()?.split_whitespace();
        let (rows, dim) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        fields.next().is_none().then_some(Self { rows, dim })
    }
}

struct Row<'a> {
    path: &'a Path,
    line: usize,
    bytes: &'a [u8],
    /// Where each field starts and ends among the bytes.
    fields: Vec<(usize, usize)>,
}

impl<'a> Row<'a> {
    fn new(path: &'a Path, line: usize, bytes: &'a [u8]) -> Self {
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r' | b'\n');
        let mut fields = Vec::new();
        let mut start = 0;
        for part in bytes.split(is_blank) {
            if !part.is_empty() {
                fields.push((start, start + part.len()));
            }
            start += part.len() + 1;
        }
        Self { path, line, bytes, fields }
    }

    /// The word and the fields of its `dim` numbers. Some words have blanks in them (`. . .` in GloVe), so the numbers are
    /// counted from the end; a word that is not UTF-8 is none, for no vocabulary has it.
    fn split(&self, dim: usize) -> Result<(Option<&str>, std::ops::Range<usize>), TextError> {
        let found = self.fields.len();
        let fail = |fault| Err(TextError::at(self.path, self.line, None, fault));
        if dim == 0 {
            return fail(Fault::TooFewFields { expected: 2, found, names: "a word and its numbers" });
        }
        // The header may promise as many numbers as it likes.
        let ragged = Fault::RaggedRow { expected: dim.saturating_add(1), found };
        if found <= dim {
            return fail(ragged);
        }
        let first_number = found - dim;
        let word = &self.bytes[self.fields[0].0..self.fields[first_number - 1].1];
        let word = std::str::from_utf8(word).ok();
        // More fields than expected are blanks in a word only if what is beyond the first is not a number.
        if first_number > 1 && self.number(first_number - 1).is_ok() {
            return fail(ragged);
        }
        Ok((word, first_number..found))
    }

    fn number(&self, field: usize) -> Result<f32, TextError> {
        let (start, end) = self.fields[field];
        let text = String::from_utf8_lossy(&self.bytes[start..end]);
        let fault = |fault| Err(TextError::at(self.path, self.line, start + 1, fault));
        match text.parse::<f32>() {
            Ok(number) if number.is_finite() => Ok(number),
            Ok(_) => fault(Fault::NotFinite { field: field + 1, found: text.into_owned() }),
            Err(_) => fault(Fault::NotANumber { field: field + 1, found: text.into_owned() }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(contents: &[u8]) -> Result<WordVectors, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("vectors.txt");
        std::fs::write(&path, contents).unwrap();
        let id = |word: &str| ["the", "cat", ". ."].iter().position(|known| *known == word).map(|id| id as u32);
        WordVectors::read(&path, id).map_err(|error| error.to_string().replace(&path.display().to_string(), "vectors.txt"))
    }

    fn vectors(dim: usize, vectors: &[(u32, &[f32])]) -> Result<WordVectors, String> {
        let vectors = vectors.iter().map(|(id, vector)| (*id, vector.to_vec())).collect();
        Ok(WordVectors { dim, vectors })
    }

    #[test]
    fn words_of_the_vocabulary_are_read_and_others_passed_over() {
        let expected = vectors(2, &[(0, &[1.0, -2.5]), (1, &[3e-1, 4.0])]);
        assert_eq!(read(b"the 1 -2.5\ndog x y\ncat 3e-1 4\ncat 9 9\n"), expected);
        assert_eq!(read(b"4 2\r\nthe 1 -2.5 \r\ndog x y\r\ncat 3e-1 4\r\n\xFF 1 2"), expected);
        assert_eq!(read(b". . 1 2\ndog 1 2"), Err("vectors.txt:2: expected 4 fields as in the rows before, found 3".into()));
        assert_eq!(read(b"2 2\n. . 1 2\ndog 1 2"), vectors(2, &[(2, &[1.0, 2.0])]));
    }

    #[test]
    fn the_first_words_stand_in_the_files_order() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("vectors.txt");
        for header in ["", "5 2\n"] {
            std::fs::write(&path, [header.as_bytes(), b"the 1 2\n. . 3 4\n\xFF 1 2\ncat 5 6\ndog 7 8\n"].concat()).unwrap();
            assert_eq!(WordVectors::first_words(&path, 3).unwrap(), ["the", ". .", "cat"]);
        }
        assert!(WordVectors::first_words(&path, 0).unwrap().is_empty());
        assert!(WordVectors::first_words(dir.path().join("none"), 1).is_err());
    }

    #[test]
    fn faults_have_a_place() {
        let cases: [(&[u8], &str); 9] = [
            (b"", "vectors.txt is empty: expected one word with its numbers per line"),
            (b"dog 1 2\ncat 1\n", "vectors.txt:2: expected 3 fields as in the rows before, found 2"),
            (b"dog 1 2\ndog 1 2 3\n", "vectors.txt:2: expected 3 fields as in the rows before, found 4"),
            (b"dog 1 2\n\n", "vectors.txt:2: expected 3 fields as in the rows before, found 0"),
            (b"dog 1 2\nthe 1 x\n", "vectors.txt:2:7: expected a number in field 3, found \"x\""),
            (b"dog 1 2\nthe nan 1\n", "vectors.txt:2:5: expected a finite number in field 2"),
            (b"3 2\nthe 1 2\n", "vectors.txt:1: the header promises 3 rows but the file has 1"),
            (b"1 18446744073709551615\nthe 1 2\n", "vectors.txt:2: expected 18446744073709551615 fields as in the rows before, found 3"),
            (b"word\n", "vectors.txt:1: expected at least 2 fields (a word and its numbers), found 1"),
        ];
        for (contents, expected) in cases {
            let error = read(contents).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
