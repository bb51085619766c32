//! Labels as they are drawn: every character visible, widths known, nothing that a terminal or a page would obey.
//!
//! A unit of a sequence may be anything: a space, a newline, half a character's accents, a right-to-left word, a token of a
//! megabyte. [`visible`] shows a unit, [`shorten`] does so within a number of columns, [`shorten_text`] shows a text in which
//! spaces are spaces, and [`ascii`] escapes what is not ASCII. All tell the width in columns of a terminal.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// A label ready to be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// What to draw.
    pub text: String,
    /// How many columns it takes.
    pub width: usize,
}

/// A unit in full, with every character visible.
///
/// ```
/// use spotlight::view::label::visible;
/// assert_eq!(visible("a b\n").text, "a␣b↵");
/// assert_eq!(visible("\u{1b}[2J").text, "‹1B›[2J");
/// assert_eq!(visible("東京").width, 4);
/// assert_eq!(visible("").text, "∅");
/// ```
pub fn visible(label: &str) -> Label {
    shorten(label, usize::MAX)
}

/// A unit in at most `columns` columns; what is left out is marked by an ellipsis.
pub fn shorten(label: &str, columns: usize) -> Label {
    let short = fit(label, columns, "…", |grapheme| match grapheme {
        " " => "␣".to_string(),
        other => show(other),
    });
    match short.width {
        0 if label.is_empty() => Label { text: "∅".to_string(), width: 1 },
        _ => isolate(short),
    }
}

/// Running text in at most `columns` columns; what is left out is marked by an ellipsis.
pub fn shorten_text(text: &str, columns: usize) -> Label {
    isolate(fit(text, columns, "…", show))
}

/// A unit in pure ASCII, other characters escaped as Rust does. A space stays a space: it is drawn between quotes or in its column.
///
/// ```
/// use spotlight::view::label::ascii;
/// assert_eq!(ascii("né", 80).text, r"n\u{e9}");
/// assert_eq!(ascii("abcdefgh", 6).text, "abc...");
/// ```
pub fn ascii(label: &str, columns: usize) -> Label {
    fit(label, columns, "...", |grapheme| {
        let plain = |c: char| c == ' ' || c.is_ascii_graphic();
        grapheme.chars().map(|c| if plain(c) { c.to_string() } else { c.escape_default().to_string() }).collect()
    })
}

/// Shows graphemes while they fit. Reads no further than needed: a label may be a megabyte.
fn fit(label: &str, columns: usize, ellipsis: &str, show: impl Fn(&str) -> String) -> Label {
    let mut text = String::new();
    let mut width = 0;
    // Where to cut if the rest turns out not to fit: the longest prefix that leaves room for the ellipsis.
    let room = columns.saturating_sub(ellipsis.width());
    let (mut cut, mut cut_width) = (0, 0);
    for grapheme in label.graphemes(true) {
        let shown = show(limit(grapheme));
        width += shown.width();
        if width > columns {
            let mark = if columns < ellipsis.width() { "" } else { ellipsis };
            text.truncate(cut);
            return Label { text: text + mark, width: cut_width + mark.width() };
        }
        text.push_str(&shown);
        if width <= room {
            (cut, cut_width) = (text.len(), width);
        }
    }
    Label { text, width }
}

/// Right-to-left labels side by side would run together and swap places on a terminal that orders text by direction.
/// A left-to-right mark on both sides, which takes no column, keeps each at its own place.
fn isolate(label: Label) -> Label {
    const MARK: char = '\u{200e}';
    match label.text.chars().any(runs_right_to_left) {
        true => Label { text: format!("{MARK}{}{MARK}", label.text), width: label.width },
        false => label,
    }
}

/// Hebrew, Arabic, Syriac, Thaana, N'Ko and their neighbours, and the presentation forms.
fn runs_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}' | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

/// Whether units run from right to left: more of their letters do than do not.
///
/// ```
/// use spotlight::view::label::is_right_to_left;
/// assert!(is_right_to_left(&["שלום", "world", "עולם"]));
/// assert!(!is_right_to_left(&["hello", "2024"]));
/// ```
pub fn is_right_to_left<S: AsRef<str>>(units: &[S]) -> bool {
    let letters =
        |unit: &S| unit.as_ref().chars().filter(|c| c.is_alphabetic()).map(|c| if runs_right_to_left(c) { 1 } else { -1 }).sum::<i64>();
    units.iter().map(letters).sum::<i64>() > 0
}

/// The first characters of a grapheme: text with hundreds of accents on one letter would cover its neighbours.
fn limit(grapheme: &str) -> &str {
    const MOST: usize = 12;
    grapheme.char_indices().nth(MOST).map_or(grapheme, |(end, _)| &grapheme[..end])
}

/// One grapheme, made visible. A lone accent gets a dotted circle to stand on.
fn show(grapheme: &str) -> String {
    match grapheme {
        "\n" | "\r\n" => return "↵".to_string(),
        "\t" => return "⇥".to_string(),
        "\u{a0}" => return "⍽".to_string(),
        _ => {}
    }
    let joined = grapheme.chars().count() > 1 && grapheme.width() > 0;
    let mut shown = String::with_capacity(grapheme.len());
    for c in grapheme.chars() {
        let inside_a_cluster = joined && matches!(c, '\u{200c}' | '\u{200d}' | '\u{e0020}'..='\u{e007f}');
        if is_hidden(c) && !inside_a_cluster {
            shown.push_str(&format!("‹{:02X}›", u32::from(c)));
        } else {
            shown.push(c);
        }
    }
    if shown.width() == 0 { format!("◌{shown}") } else { shown }
}

/// Characters that draw nothing, move the cursor or change the order of what follows.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || (c.is_whitespace() && c != ' ' && c != '\u{3000}')
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_become_visible() {
        assert_eq!(visible(" ").text, "␣");
        assert_eq!(visible("\r\n\t\0\u{7f}").text, "↵⇥‹00›‹7F›");
        assert_eq!(visible("\u{a0}\u{200b}\u{202e}").text, "⍽‹200B›‹202E›");
        assert_eq!(visible("\u{301}").text, "◌\u{301}");
        assert_eq!(shorten_text("a b\nc", 80).text, "a b↵c");
        assert_eq!(shorten_text("", 80).width, 0);
    }

    #[test]
    fn clusters_stay_whole() {
        let family = "👨\u{200d}👩\u{200d}👧";
        assert_eq!(visible(family), Label { text: family.into(), width: 2 });
        assert_eq!(visible("e\u{301}").width, 1);
        assert_eq!(shorten("e\u{301}e\u{301}e\u{301}", 2), Label { text: "e\u{301}…".into(), width: 2 });
    }

    #[test]
    fn widths_are_kept() {
        for columns in 0..9 {
            for label in ["", "abc", "東京都庁", "naïve words", "a\u{0}b", "👩\u{200d}🚀 launch", "שלום"] {
                let short = shorten(label, columns);
                assert!(short.width <= columns.max(1), "{label:?} in {columns}: {short:?}");
                assert_eq!(short.text.width(), short.width, "{short:?}");
                assert!(ascii(label, columns).width <= columns);
            }
        }
        assert_eq!(shorten("東京都庁", 4).text, "東…");
        assert_eq!(shorten("abcd", 4).text, "abcd");
    }

    #[test]
    fn right_to_left_labels_keep_their_place() {
        assert_eq!(visible("שלום").text, "\u{200e}שלום\u{200e}");
        assert_eq!(visible("שלום").width, 4);
    }

    #[test]
    fn long_labels_are_cut_short() {
        let token = "x".repeat(1 << 20);
        assert_eq!(shorten(&token, 5).text, "xxxx…");
        let tower = format!("a{}", "\u{301}".repeat(1 << 20));
        assert!(visible(&tower).text.len() < 40);
    }

    #[test]
    fn ascii_is_ascii() {
        assert_eq!(ascii("\n é", 80).text, r"\n \u{e9}");
        assert!(ascii("שלום", 80).text.is_ascii());
        assert_eq!(ascii("", 80), Label { text: String::new(), width: 0 });
    }
}
