//! Words for BLEU: the tokeniser `13a` of the WMT evaluations, and none.
//!
//! BLEU depends on what counts as a word. `13a` is what the WMT script `mteval-v13a.pl` did and
//! what sacrebleu does by default: unescape four XML entities, set ASCII punctuation apart, but
//! keep apostrophes, hyphens inside words, and the points and commas inside numbers.

use std::borrow::Cow;

/// How text is cut into the words that BLEU counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tokenizer {
    /// As in the WMT evaluations: punctuation becomes words of its own. For text as people write
    /// it.
    #[default]
    V13a,
    /// Words are what stands between whitespace. For text that is tokenised already.
    None,
}

impl Tokenizer {
    /// The name in a signature.
    pub fn name(self) -> &'static str {
        match self {
            Tokenizer::V13a => "13a",
            Tokenizer::None => "none",
        }
    }

    /// The text with a single space between words.
    ///
    /// ```
    /// use spotlight::metrics::Tokenizer;
    /// let words = Tokenizer::V13a.apply("It's 3,000.50 km (well-known).");
    /// assert_eq!(words, "It's 3,000.50 km ( well-known ) .");
    /// ```
    pub fn apply(self, text: &str) -> String {
        let words = match self {
            Tokenizer::V13a => Cow::Owned(separate_punctuation(text)),
            Tokenizer::None => Cow::Borrowed(text),
        };
        split_words(&words).collect::<Vec<_>>().join(" ")
    }
}

/// Whitespace as Python understands it, which sacrebleu's numbers rest on: Unicode's, and the four
/// ASCII separators.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// The pieces of a text between whitespace.
pub(super) fn split_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// The rules of `13a`, in its order; the spaces it leaves are to be split at.
fn separate_punctuation(text: &str) -> String {
    // A hyphen at the end of a line joins the word it broke, but not at the end of the text.
    let text = text.trim_end_matches(is_space).replace("<skipped>", "").replace("-\n", "").replace('\n', " ");
    // One after another, so that a doubly escaped `&amp;lt;` becomes `<`.
    let text = text.replace("&quot;", "\"").replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");

    let mut spaced = String::with_capacity(2 * text.len() + 2);
    spaced.push(' ');
    for c in text.chars() {
        if c.is_ascii_punctuation() && !matches!(c, '\'' | ',' | '-' | '.') {
            spaced.extend([' ', c, ' ']);
        } else {
            spaced.push(c);
        }
    }
    spaced.push(' ');

    let is_stop = |c: char| matches!(c, '.' | ',');
    let is_digit = |c: char| c.is_ascii_digit();
    let apart = rewrite_pairs(&spaced, |a, b| !is_digit(a) && is_stop(b), |a, b| [a, ' ', b, ' ']);
    let apart = rewrite_pairs(&apart, |a, b| is_stop(a) && !is_digit(b), |a, b| [' ', a, ' ', b]);
    rewrite_pairs(&apart, |a, b| is_digit(a) && b == '-', |a, b| [a, ' ', b, ' '])
}

/// Rewrites neighbouring characters that match, from left to right; a rewritten pair takes no part
/// in another.
fn rewrite_pairs(text: &str, matches: impl Fn(char, char) -> bool, rewrite: impl Fn(char, char) -> [char; 4]) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let mut chars = text.chars().peekable();
    while let Some(a) = chars.next() {
        match chars.next_if(|&b| matches(a, b)) {
            Some(b) => out.extend(rewrite(a, b)),
            None => out.push(a),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_whole_and_runs_of_points_come_apart() {
        assert_eq!(Tokenizer::V13a.apply("1,234.5 vs. .5 ... 1990-95"), "1,234.5 vs . . 5 . . . 1990 - 95");
    }

    #[test]
    fn none_only_joins_with_single_spaces() {
        assert_eq!(Tokenizer::None.apply("  a,b\u{1f}c\u{a0} d. "), "a,b c d.");
    }
}
