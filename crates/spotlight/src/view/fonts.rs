//! Fonts for pictures of pixels: two that are embedded, those that are given, and those that are found on the machine.
//!
//! The embedded ones are subsets of DejaVu Sans and DejaVu Sans Mono: Latin, Greek, Cyrillic, Hebrew, Arabic, the IPA, accents,
//! punctuation, arrows and symbols. For what they lack, Chinese characters and emoji above all, a font is looked for.

use super::Error;
use resvg::usvg::fontdb::{Database, Source};
use skrifa::raw::FileRef;
use skrifa::{FontRef, MetadataProvider};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use unicode_width::UnicodeWidthChar;

static SANS: &[u8] = include_bytes!("fonts/DejaVuSans-subset.ttf");
static MONO: &[u8] = include_bytes!("fonts/DejaVuSansMono-subset.ttf");

/// What stands where no font has the character.
const STAND_IN: char = '·';
/// Fonts on the machine that are opened at most, and the largest that is.
const MOST_FILES: usize = 60;
const LARGEST_FILE: u64 = 80 << 20;

/// Fonts to draw with.
#[derive(Clone)]
pub struct Fonts {
    files: Vec<Arc<dyn AsRef<[u8]> + Send + Sync>>,
    folders: Vec<PathBuf>,
}

impl Default for Fonts {
    fn default() -> Self {
        Fonts::embedded()
    }
}

impl Fonts {
    /// The embedded fonts alone: every machine makes the same pixels.
    pub fn embedded() -> Fonts {
        Fonts { files: vec![Arc::new(SANS), Arc::new(MONO)], folders: Vec::new() }
    }

    /// A font besides: TrueType, OpenType, or a collection of them.
    pub fn with_file(mut self, path: &Path) -> Result<Fonts, Error> {
        let problem = |what: String| Error::Font { path: path.display().to_string(), problem: what };
        let data = std::fs::read(path).map_err(|error| problem(error.to_string()))?;
        FileRef::new(&data).map_err(|error| problem(format!("it is no TrueType or OpenType font ({error})")))?;
        self.files.push(Arc::new(data));
        Ok(self)
    }

    /// What no font has is looked for where fonts are kept on this machine.
    pub fn or_found(self) -> Fonts {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let own = [".local/share/fonts", ".fonts", "Library/Fonts"];
        let common = ["/usr/share/fonts", "/usr/local/share/fonts", "/Library/Fonts", "/System/Library/Fonts", "C:\\Windows\\Fonts"];
        let own = own.iter().filter_map(|folder| home.as_ref().map(|home| home.join(folder)));
        Fonts { folders: own.chain(common.iter().map(PathBuf::from)).collect(), ..self }
    }

    /// The characters of a text that no font has.
    pub(super) fn missing(&self, text: &str) -> BTreeSet<char> {
        let mut wanted: BTreeSet<char> = text.chars().filter(|c| !c.is_ascii() && !draws_nothing(*c)).collect();
        self.files.iter().for_each(|file| strike(&mut wanted, file.as_ref().as_ref()));
        wanted
    }

    /// Opens fonts on this machine until they have these characters, and returns those that none has.
    pub(super) fn find(&mut self, mut wanted: BTreeSet<char>) -> BTreeSet<char> {
        for path in font_files(&self.folders).into_iter().take(MOST_FILES) {
            if wanted.is_empty() {
                break;
            }
            let small = std::fs::metadata(&path).is_ok_and(|about| about.len() <= LARGEST_FILE);
            let Some(data) = small.then(|| std::fs::read(&path).ok()).flatten() else { continue };
            let before = wanted.len();
            strike(&mut wanted, &data);
            if wanted.len() < before {
                self.files.push(Arc::new(data));
            }
        }
        wanted
    }

    /// As the renderer reads them.
    pub(super) fn database(&self) -> Arc<Database> {
        let mut database = Database::new();
        self.files.iter().for_each(|file| drop(database.load_font_source(Source::Binary(file.clone()))));
        Arc::new(database)
    }
}

/// Takes away the characters that a font has.
fn strike(wanted: &mut BTreeSet<char>, data: &[u8]) {
    let has = |font: &FontRef, c: char| font.charmap().map(c).is_some_and(|glyph| glyph.to_u32() != 0);
    let Ok(file) = FileRef::new(data) else { return };
    file.fonts().flatten().for_each(|font| wanted.retain(|&c| !has(&font, c)));
}

/// Joiners, selectors and marks of direction need no glyph.
fn draws_nothing(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2069}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0000}'..='\u{e0fff}')
}

/// Font files, those first that are likely to have what others lack.
fn font_files(folders: &[PathBuf]) -> Vec<PathBuf> {
    const LIKELY: [&str; 9] = ["cjk", "emoji", "unifont", "wqy", "ipa", "hei", "gothic", "fallback", "noto"];
    let mut files = Vec::new();
    let mut left: Vec<(PathBuf, usize)> = folders.iter().rev().map(|folder| (folder.clone(), 0)).collect();
    while let Some((folder, depth)) = left.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
            if path.is_dir() && depth < 5 {
                left.push((path, depth + 1));
            } else if ["ttf", "otf", "ttc", "otc"].contains(&extension.as_str()) {
                files.push(path);
            }
        }
    }
    let likely = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
        LIKELY.iter().position(|part| name.contains(part)).unwrap_or(LIKELY.len())
    };
    // By name among equals, so that the same machine finds the same.
    files.sort_by_key(|path| (likely(path), path.clone()));
    files
}

/// A drawing without the characters that no font has: a dot for each column they would take.
pub(super) fn without(svg: &str, missing: &BTreeSet<char>) -> String {
    let mut drawn = String::with_capacity(svg.len());
    for c in svg.chars() {
        match missing.contains(&c) {
            true => drawn.extend(std::iter::repeat_n(STAND_IN, c.width().unwrap_or(0))),
            false => drawn.push(c),
        }
    }
    drawn
}

/// What a picture says of characters that no font has.
pub(super) fn note(missing: &BTreeSet<char>) -> String {
    let count = missing.len();
    let (characters, show) = if count == 1 { ("character", "shows") } else { ("characters", "show") };
    format!("{count} {characters} that no font here has {show} as {STAND_IN}; give a font with --font FILE, or draw an SVG or a page")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none() -> Fonts {
        Fonts { files: Vec::new(), folders: Vec::new() }
    }

    #[test]
    fn what_fonts_lack_is_known() {
        let fonts = Fonts::embedded();
        assert!(fonts.missing("naïve café שלום مرحبا ʃ → ×‰ e\u{301} 'a'").is_empty());
        assert_eq!(fonts.missing("a東京 👩\u{200d}🚀\u{fe0f}").into_iter().collect::<String>(), "京東👩🚀", "in the order of Unicode");
        assert_eq!(none().missing("né").into_iter().collect::<String>(), "é");
    }

    #[test]
    fn a_font_is_given_or_found() -> Result<(), Error> {
        let place = std::env::temp_dir().join(format!("spotlight-fonts-{}", std::process::id()));
        let deep = place.join("truetype/some");
        std::fs::create_dir_all(&deep).unwrap_or_default();
        std::fs::write(deep.join("Some.ttf"), SANS).unwrap_or_default();
        std::fs::write(deep.join("Broken.otf"), b"no font").unwrap_or_default();
        let given = none().with_file(&deep.join("Some.ttf"))?;
        assert!(given.missing("é").is_empty());
        let refused = none().with_file(&deep.join("Broken.otf")).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(refused.contains("Broken.otf") && refused.contains("no TrueType or OpenType font"), "{refused}");
        let mut found = Fonts { folders: vec![place.clone()], ..none() };
        assert_eq!(found.find(BTreeSet::from(['é', '東'])), BTreeSet::from(['東']));
        assert!(found.missing("é").is_empty());
        assert_eq!(found.files.len(), 1);
        let _ = std::fs::remove_dir_all(place);
        Ok(())
    }

    #[test]
    fn a_dot_stands_for_each_column() {
        let missing = BTreeSet::from(['東', '👩']);
        assert_eq!(without("<text>東a👩</text>", &missing), "<text>··a··</text>");
        assert!(note(&missing).starts_with("2 characters"));
    }
}
