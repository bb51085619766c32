//! The 256 colours of xterm, and tables of colours brought to them so that lightness still goes one way.

use super::palette::{NEUTRAL, Rgb};

/// The levels of a channel in xterm's 6 x 6 x 6 cube.
const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];

/// The colour of an entry of the cube or of the grey ramp after it.
pub(super) fn xterm(entry: u8) -> Rgb {
    match entry {
        232.. => {
            let level = 8 + 10 * (entry - 232);
            Rgb { r: level, g: level, b: level }
        }
        _ => {
            let i = usize::from(entry.saturating_sub(16));
            Rgb { r: LEVELS[i / 36], g: LEVELS[i / 6 % 6], b: LEVELS[i % 6] }
        }
    }
}

/// The entry of the cube or of the grey ramp that lies nearest.
pub(super) fn nearest(colour: Rgb) -> u8 {
    let distance = |other: Rgb| -> u32 {
        [(other.r, colour.r), (other.g, colour.g), (other.b, colour.b)].iter().map(|&(a, b)| u32::from(a.abs_diff(b)).pow(2)).sum()
    };
    (16..=255u8).min_by_key(|&entry| distance(xterm(entry))).unwrap_or(16)
}

/// A table in 256 colours: each entry the nearest to the eye among those whose lightness goes on the way of the table. The nearest
/// ones alone would jump to and fro, with greys between the colours.
pub(super) fn sequential(table: &[Rgb]) -> Vec<u8> {
    let lightness = |colour: Rgb| oklab(colour)[0];
    let rising = match (table.first(), table.last()) {
        (Some(&first), Some(&last)) => lightness(last) >= lightness(first),
        _ => return Vec::new(),
    };
    let mut before: Option<f64> = None;
    let mut next = |colour: &Rgb| {
        let onward = |entry: &u8| {
            before.is_none_or(|before| if rising { lightness(xterm(*entry)) >= before } else { lightness(xterm(*entry)) <= before })
        };
        let distance = |entry: u8| -> f64 { oklab(xterm(entry)).iter().zip(oklab(*colour)).map(|(a, b)| (a - b).powi(2)).sum() };
        // Greys only where the colour is one.
        let entries = if is_grey(*colour) { 16..=255u8 } else { 16..=231u8 };
        let found = entries.filter(onward).min_by(|&a, &b| distance(a).total_cmp(&distance(b))).unwrap_or(if rising { 231 } else { 16 });
        before = Some(lightness(xterm(found)));
        found
    };
    table.iter().map(&mut next).collect()
}

/// The same for a table that parts in the middle: each half from there on.
pub(super) fn diverging(table: &[Rgb]) -> Vec<u8> {
    let middle = NEUTRAL.min(table.len());
    let less: Vec<Rgb> = table[..middle].iter().rev().copied().collect();
    let mut entries: Vec<u8> = sequential(&less).into_iter().rev().collect();
    entries.extend(sequential(&table[middle..]));
    entries
}

fn is_grey(Rgb { r, g, b }: Rgb) -> bool {
    r.max(g).max(b) - r.min(g).min(b) < 24
}

/// Ottosson's Oklab, in which equal distances look equal: lightness, green to red, blue to yellow.
fn oklab(colour: Rgb) -> [f64; 3] {
    let [r, g, b] = colour.linear();
    let l = (0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b).cbrt();
    let m = (0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b).cbrt();
    let s = (0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b).cbrt();
    [
        0.2104542553 * l + 0.7936177850 * m - 0.0040720468 * s,
        1.9779984951 * l - 2.4285922050 * m + 0.4505937099 * s,
        0.0259040371 * l + 0.7827717662 * m - 0.8086757660 * s,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::palette::{Ground, Palette, Ramp};

    #[test]
    fn the_nearest_of_256_colours() {
        assert_eq!(nearest(Rgb { r: 255, g: 255, b: 255 }), 231);
        assert_eq!(nearest(Rgb { r: 0, g: 0, b: 0 }), 16);
        assert_eq!(nearest(Rgb { r: 130, g: 130, b: 130 }), 244);
        assert_eq!(nearest(Rgb { r: 250, g: 230, b: 40 }), 220);
    }

    #[test]
    fn a_table_stays_even() {
        for palette in Palette::ALL {
            let table = palette.table(Ramp::Sequential, Ground::Dark);
            let entries = sequential(&table);
            let lightness: Vec<f64> = entries.iter().map(|&entry| oklab(xterm(entry))[0]).collect();
            let rising = oklab(table[100])[0] > oklab(table[0])[0];
            assert!(lightness.windows(2).all(|pair| if rising { pair[1] >= pair[0] } else { pair[1] <= pair[0] }), "{}", palette.name());
            let mut different = entries.clone();
            different.dedup();
            assert!(different.len() >= 6, "{}: {different:?}", palette.name());
        }
        assert!(sequential(&Palette::Viridis.table(Ramp::Sequential, Ground::Dark)).iter().all(|&entry| entry < 232), "no grey in viridis");
    }

    #[test]
    fn a_parted_table_is_told_apart_on_both_sides() {
        for ground in [Ground::Light, Ground::Dark] {
            let entries = diverging(&Palette::Viridis.table(Ramp::Diverging, ground));
            assert_eq!(entries.len(), 101);
            assert!(entries[0] != entries[50] && entries[100] != entries[50] && entries[75] != entries[50], "{entries:?}");
            assert!(sequential(&[]).is_empty());
        }
    }
}
