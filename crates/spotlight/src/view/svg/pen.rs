//! Writing SVG: text that stays text, fragments that know their size, and the frame around them.

use super::colours::Colours;

/// How far a monospaced character advances, in parts of the font size: DejaVu Sans Mono's 1233 of 2048.
/// Other monospaced faces are as wide or a little narrower. The proportional face is about as wide on average.
const ADVANCE: f64 = 0.602;

/// The width of a text of so many columns.
pub(in crate::view) fn text_width(columns: usize, size: f64) -> f64 {
    columns as f64 * size * ADVANCE
}

/// What a text is, which decides its colour and face.
#[derive(Clone, Copy)]
pub(in crate::view) enum Style {
    /// Titles.
    Ink,
    /// What stands back.
    Soft,
    /// Units and numbers, monospaced.
    Mono,
    /// Numbers that stand back, monospaced.
    SoftMono,
}

impl Style {
    fn class(self) -> &'static str {
        match self {
            Style::Ink => "ink",
            Style::Soft => "soft",
            Style::Mono => "ink mono",
            Style::SoftMono => "soft mono",
        }
    }
}

/// A piece of a drawing that knows how much room it takes, from its own origin.
#[derive(Clone, Debug, Default)]
pub(in crate::view) struct Fragment {
    pub width: f64,
    pub height: f64,
    body: String,
}

impl Fragment {
    /// Makes sure that the fragment covers this much.
    pub fn grow(&mut self, width: f64, height: f64) {
        self.width = self.width.max(width);
        self.height = self.height.max(height);
    }

    /// Adds finished SVG; the caller grows the fragment.
    pub fn raw(&mut self, svg: &str) {
        self.body.push_str(svg);
    }

    /// Text that starts at `x`, its baseline at `y`.
    pub fn text(&mut self, x: f64, y: f64, size: f64, style: Style, content: &str) {
        self.set(x, y, size, style, "", content);
    }

    /// Text that ends at `x`.
    pub fn text_end(&mut self, x: f64, y: f64, size: f64, style: Style, content: &str) {
        self.set(x, y, size, style, " text-anchor=\"end\"", content);
    }

    /// Text around `x`.
    pub fn text_middle(&mut self, x: f64, y: f64, size: f64, style: Style, content: &str) {
        self.set(x, y, size, style, " text-anchor=\"middle\"", content);
    }

    /// Text that starts at a point and rises by some degrees.
    pub fn text_rising(&mut self, x: f64, y: f64, degrees: f64, size: f64, style: Style, content: &str) {
        let turn = format!(" transform=\"rotate({} {} {})\"", n(-degrees), n(x), n(y));
        self.set(x, y, size, style, &turn, content);
    }

    /// Text around `x` in an ink of its own, as attributes.
    pub fn text_on(&mut self, x: f64, y: f64, size: f64, ink: &str, content: &str) {
        let text = escape(content);
        let (x, y, size) = (n(x), n(y), n(size));
        self.raw(&format!("<text {ink} x=\"{x}\" y=\"{y}\" font-size=\"{size}\" text-anchor=\"middle\">{text}</text>"));
    }

    fn set(&mut self, x: f64, y: f64, size: f64, style: Style, attributes: &str, content: &str) {
        let (class, text) = (style.class(), escape(content));
        self.raw(&format!("<text class=\"{class}\" x=\"{}\" y=\"{}\" font-size=\"{}\"{attributes}>{text}</text>\n", n(x), n(y), n(size)));
    }

    /// A filled rectangle, its corners rounded by `radius`, with a tooltip unless that is empty.
    pub fn rect(&mut self, (x, y, width, height): (f64, f64, f64, f64), radius: f64, fill: &str, tooltip: &str) {
        let start =
            format!("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\" {fill}", n(x), n(y), n(width), n(height), n(radius));
        match tooltip {
            "" => self.raw(&format!("{start}/>\n")),
            tooltip => self.raw(&format!("{start}><title>{}</title></rect>\n", escape(tooltip))),
        }
    }

    /// Puts another fragment at a point of this one.
    pub fn place(&mut self, x: f64, y: f64, part: Fragment) {
        self.raw(&format!("<g transform=\"translate({} {})\">\n{}</g>\n", n(x), n(y), part.body));
        self.grow(x + part.width, y + part.height);
    }

    /// Puts another fragment under what there is.
    pub fn below(&mut self, part: Fragment, gap: f64) {
        let y = self.height + gap;
        self.place(0.0, y, part);
    }
}

/// Fragments side by side while they fit into `widest`.
pub(in crate::view) fn flow(parts: Vec<Fragment>, widest: f64, gap: f64) -> Fragment {
    let mut all = Fragment::default();
    let (mut x, mut y, mut bottom) = (0.0_f64, 0.0_f64, 0.0_f64);
    for part in parts {
        if x > 0.0 && x + part.width > widest {
            (x, y) = (0.0, bottom + gap);
        }
        let next = x + part.width + gap;
        bottom = bottom.max(y + part.height);
        all.place(x, y, part);
        x = next;
    }
    all
}

/// The whole file around a drawing. Renderers that do not know what the reader prefers take light paper.
pub(in crate::view) fn document(drawing: Fragment, margin: f64, (title, note): (&str, &str), numbers: &str, colours: Colours) -> String {
    let (width, height) = ((drawing.width + 2.0 * margin).ceil(), (drawing.height + 2.0 * margin).ceil());
    let mut frame = Fragment::default();
    frame.rect((0.0, 0.0, width, height), 8.0, "class=\"paper\"", "");
    frame.place(margin, margin, drawing);
    let (title, note, body) = (escape(title), escape(note), frame.body);
    let style = colours.style(&body);
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" class="spotlight" role="img" width="{width}" height="{height}" viewBox="0 0 {width} {height}">
<title>{title}</title>
<desc>{note}</desc>
<metadata>{numbers}</metadata>
<style>
.spotlight text {{ font-family: "DejaVu Sans", "Segoe UI", "Helvetica Neue", Arial, sans-serif; white-space: pre }}
.spotlight .mono {{ font-family: "DejaVu Sans Mono", Menlo, Consolas, "Liberation Mono", monospace }}
{style}</style>
{body}</svg>
"##
    )
}

/// A coordinate in at most two decimals.
pub(in crate::view) fn n(value: f64) -> String {
    let text = format!("{value:.2}");
    match text.trim_end_matches('0').trim_end_matches('.') {
        "-0" => "0".to_string(),
        short => short.to_string(),
    }
}

/// Text as XML may hold it. Characters XML forbids are shown, not dropped, by the labels that come here.
pub(in crate::view) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_short() {
        assert_eq!([0.0, -0.001, 1.5, 2.25, 10.0, 100.0, 1.0 / 3.0].map(n), ["0", "0", "1.5", "2.25", "10", "100", "0.33"]);
    }

    #[test]
    fn markup_becomes_text() {
        assert_eq!(escape(r#"</style><a b='c"d'>&"#), "&lt;/style&gt;&lt;a b=&#39;c&quot;d&#39;&gt;&amp;");
    }

    #[test]
    fn fragments_flow() {
        let part = || {
            let mut part = Fragment::default();
            part.grow(40.0, 10.0);
            part
        };
        let flowed = flow(vec![part(), part(), part()], 100.0, 5.0);
        assert_eq!((flowed.width, flowed.height), (85.0, 25.0));
    }
}
