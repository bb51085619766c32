//! Lines whose width is known, and blocks of them side by side.

/// Text and the columns it takes, which differ when it holds colours or wide characters.
#[derive(Clone, Debug, Default)]
pub(in crate::view) struct Line {
    pub text: String,
    pub width: usize,
}

impl Line {
    pub fn new(text: &str, width: usize) -> Line {
        Line { text: text.to_string(), width }
    }

    /// The line followed by more text.
    pub fn then(mut self, text: &str, width: usize) -> Line {
        self.text.push_str(text);
        self.width += width;
        self
    }

    /// The line filled up with spaces.
    pub fn pad(self, width: usize) -> Line {
        let missing = width.saturating_sub(self.width);
        self.then(&" ".repeat(missing), missing)
    }
}

/// Lines that belong together.
#[derive(Clone, Debug, Default)]
pub(super) struct Block {
    pub lines: Vec<Line>,
}

impl Block {
    fn width(&self) -> usize {
        self.lines.iter().map(|line| line.width).max().unwrap_or(0)
    }
}

/// Blocks side by side while they fit, `gap` columns apart, an empty line between one row of blocks and the next.
pub(super) fn flow(blocks: &[Block], width: usize, gap: usize) -> Vec<Line> {
    let mut rows: Vec<Vec<&Block>> = Vec::new();
    let mut used = 0;
    for block in blocks {
        match rows.last_mut() {
            Some(row) if used + gap + block.width() <= width => {
                used += gap + block.width();
                row.push(block);
            }
            _ => {
                used = block.width();
                rows.push(vec![block]);
            }
        }
    }
    let mut lines = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        if index > 0 {
            lines.push(Line::default());
        }
        let height = row.iter().map(|block| block.lines.len()).max().unwrap_or(0);
        for y in 0..height {
            let beside = row.iter().enumerate().fold(Line::default(), |line, (x, block)| {
                let start = if x > 0 { line.width + gap } else { 0 };
                let part = block.lines.get(y).cloned().unwrap_or_default().pad(block.width());
                line.pad(start).then(&part.text, part.width)
            });
            lines.push(beside);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_flow_and_never_exceed_the_width() {
        let block = |lines: &[&str]| Block { lines: lines.iter().map(|line| Line::new(line, line.len())).collect() };
        let blocks = [block(&["aaa", "a"]), block(&["bb"]), block(&["cccc"])];
        let text = |width| flow(&blocks, width, 1).iter().map(|line| line.text.clone()).collect::<Vec<_>>();
        assert_eq!(text(6), ["aaa bb", "a     ", "", "cccc"]);
        assert_eq!(text(11), ["aaa bb cccc", "a          "]);
    }
}
