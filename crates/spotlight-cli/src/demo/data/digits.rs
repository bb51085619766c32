//! Bags of small digit pictures; a bag is positive if one of them is a nine.
//!
//! Every digit is a few strokes in a unit square, which are shifted, slanted, scaled and thickened
//! a little and painted onto 8 by 8 grey levels with some noise. No picture occurs twice.

use std::f32::consts::TAU;

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::{Split, seeded};

/// Rows and columns of a picture.
pub const SIDE: usize = 8;

/// Grey levels row by row, from 0 (paper) to 1 (ink).
pub type Picture = [f32; SIDE * SIDE];

/// The fewest and the most pictures of a bag.
pub const BAG_SIZES: std::ops::RangeInclusive<usize> = 5..=12;

/// Pictures of which one may be a nine.
#[derive(Clone, Debug, PartialEq)]
pub struct Bag {
    /// The pictures in no particular order.
    pub pictures: Vec<Picture>,
    /// What each picture shows. A model must not see this; it tells where the attention should go.
    pub digits: Vec<u8>,
    /// Whether there is a nine.
    pub positive: bool,
}

/// Bags to learn from and to test with; every second one is positive, mostly with a single nine.
pub fn bags(train: usize, test: usize, seed: u64) -> Split<Bag> {
    let mut rng = seeded(seed);
    let mut fill = |count: usize| (0..count).map(|index| bag(index % 2 == 0, &mut rng)).collect();
    Split { train: fill(train), test: fill(test) }
}

fn bag(positive: bool, rng: &mut ChaCha8Rng) -> Bag {
    let size = rng.random_range(BAG_SIZES);
    let nines = match positive {
        true if rng.random_bool(0.2) => 2,
        true => 1,
        false => 0,
    };
    let mut digits: Vec<u8> = (0..size).map(|row| if row < nines { 9 } else { rng.random_range(0..9) }).collect();
    digits.shuffle(rng);
    let pictures = digits.iter().map(|&digit| draw(digit, rng)).collect();
    Bag { pictures, digits, positive }
}

/// A point of the unit square, x to the right and y down.
type Point = (f32, f32);

/// Draws one digit in a hand that differs every time.
///
/// Digits above 9 are drawn as 9.
fn draw(digit: u8, rng: &mut ChaCha8Rng) -> Picture {
    let slant = rng.random_range(-0.2..0.2);
    let scale = (rng.random_range(0.85..1.05), rng.random_range(0.9..1.05));
    let shift = (rng.random_range(-0.08..0.08), rng.random_range(-0.06..0.06));
    let thickness = rng.random_range(0.05..0.09);
    let bend = |(x, y): Point| {
        let (x, y) = (x - 0.5, y - 0.5);
        (0.5 + scale.0 * x - slant * y + shift.0, 0.5 + scale.1 * y + shift.1)
    };
    let strokes: Vec<Vec<Point>> = strokes(digit).into_iter().map(|stroke| stroke.into_iter().map(bend).collect()).collect();

    std::array::from_fn(|pixel| {
        let centre = |index: usize| (index as f32 + 0.5) / SIDE as f32;
        let point = (centre(pixel % SIDE), centre(pixel / SIDE));
        let distance = strokes
            .iter()
            .flat_map(|stroke| stroke.windows(2))
            .map(|ends| distance_to_segment(point, ends[0], ends[1]))
            .fold(f32::INFINITY, f32::min);
        // Full ink within the stroke, fading to paper over one pixel.
        let ink = 1.0 - (distance - thickness) * SIDE as f32;
        let noise = rng.random_range(-0.06..0.06);
        (ink.clamp(0.0, 1.0) + noise).clamp(0.0, 1.0)
    })
}

/// The strokes of a digit in its plain form.
fn strokes(digit: u8) -> Vec<Vec<Point>> {
    match digit {
        0 => vec![arc((0.5, 0.5), (0.27, 0.4), 0.0, 1.0)],
        1 => vec![vec![(0.35, 0.25), (0.52, 0.1), (0.52, 0.9)]],
        2 => vec![joined(arc((0.5, 0.3), (0.25, 0.2), 0.5, 1.1), vec![(0.25, 0.88), (0.78, 0.88)])],
        3 => vec![joined(arc((0.48, 0.3), (0.24, 0.2), 0.6, 1.25), arc((0.48, 0.69), (0.27, 0.21), 0.75, 1.4))],
        4 => vec![vec![(0.55, 0.1), (0.22, 0.62), (0.8, 0.62)], vec![(0.62, 0.38), (0.62, 0.92)]],
        5 => vec![joined(vec![(0.75, 0.12), (0.32, 0.12), (0.3, 0.45)], arc((0.48, 0.65), (0.28, 0.24), 0.65, 1.4))],
        6 => vec![vec![(0.66, 0.1), (0.38, 0.35), (0.27, 0.66)], arc((0.5, 0.68), (0.24, 0.21), 0.0, 1.0)],
        7 => vec![vec![(0.22, 0.12), (0.78, 0.12), (0.42, 0.9)]],
        8 => vec![arc((0.5, 0.3), (0.21, 0.19), 0.0, 1.0), arc((0.5, 0.69), (0.25, 0.21), 0.0, 1.0)],
        _ => vec![arc((0.5, 0.32), (0.24, 0.21), 0.0, 1.0), vec![(0.74, 0.34), (0.68, 0.62), (0.46, 0.9)]],
    }
}

/// Part of an ellipse, in turns clockwise from the right: 0.25 is the bottom, 0.5 the left, 0.75
/// the top.
fn arc(centre: Point, radius: Point, from: f32, to: f32) -> Vec<Point> {
    const PIECES: usize = 16;
    let point = |index: usize| {
        let angle = TAU * (from + (to - from) * index as f32 / PIECES as f32);
        (centre.0 + radius.0 * angle.cos(), centre.1 + radius.1 * angle.sin())
    };
    (0..=PIECES).map(point).collect()
}

fn joined(mut first: Vec<Point>, then: Vec<Point>) -> Vec<Point> {
    first.extend(then);
    first
}

fn distance_to_segment(point: Point, start: Point, end: Point) -> f32 {
    let along = (end.0 - start.0, end.1 - start.1);
    let from_start = (point.0 - start.0, point.1 - start.1);
    let length_squared = along.0 * along.0 + along.1 * along.1;
    // No stroke has two equal points in a row, but rounding may make one.
    let share =
        if length_squared > 0.0 { ((from_start.0 * along.0 + from_start.1 * along.1) / length_squared).clamp(0.0, 1.0) } else { 0.0 };
    (from_start.0 - share * along.0).hypot(from_start.1 - share * along.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_bags() {
        assert_eq!(bags(10, 4, 1), bags(10, 4, 1));
        assert_ne!(bags(10, 4, 1), bags(10, 4, 2));
    }

    #[test]
    fn bags_are_as_promised() {
        let split = bags(200, 50, 3);
        assert_eq!((split.train.len(), split.test.len()), (200, 50));
        assert_eq!(split.train.iter().filter(|bag| bag.positive).count(), 100);
        for bag in split.train.iter().chain(&split.test) {
            assert_eq!(bag.pictures.len(), bag.digits.len());
            assert!(BAG_SIZES.contains(&bag.digits.len()));
            assert_eq!(bag.positive, bag.digits.contains(&9));
            assert_eq!(bag.digits.contains(&9), bag.positive);
            assert!(bag.pictures.iter().flatten().all(|grey| (0.0..=1.0).contains(grey)));
        }
        // The nine stands anywhere, not always first.
        let places: std::collections::HashSet<_> = split
            .train
            .iter()
            .flat_map(|bag| bag.digits.iter().enumerate().filter(|(_, digit)| **digit == 9).map(|(row, _)| row))
            .collect();
        assert!(places.len() >= 10, "{places:?}");
    }

    #[test]
    fn no_picture_occurs_twice() {
        let split = bags(100, 30, 4);
        let pictures: Vec<_> = split.train.iter().chain(&split.test).flat_map(|bag| &bag.pictures).collect();
        let distinct: std::collections::HashSet<_> = pictures.iter().map(|p| p.map(f32::to_bits)).collect();
        assert_eq!(distinct.len(), pictures.len());
    }

    /// A picture is closest to the mean picture of its own digit nearly always: digits can be told
    /// apart.
    #[test]
    fn digits_look_like_themselves() {
        let mut rng = seeded(5);
        let mean = |digit: u8, rng: &mut ChaCha8Rng| {
            let mut sum = [0.0f32; SIDE * SIDE];
            for _ in 0..100 {
                sum.iter_mut().zip(draw(digit, rng)).for_each(|(sum, grey)| *sum += grey / 100.0);
            }
            sum
        };
        let means: Vec<Picture> = (0..10).map(|digit| mean(digit, &mut rng)).collect();
        let distance = |a: &Picture, b: &Picture| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f32>();
        let mut right = 0;
        for round in 0..500 {
            let digit = round % 10;
            let picture = draw(digit as u8, &mut rng);
            let closest = (0..10).min_by(|&a, &b| distance(&picture, &means[a]).total_cmp(&distance(&picture, &means[b])));
            right += usize::from(closest == Some(digit));
        }
        println!("{right} of 500 by the closest mean");
        assert!(right > 430, "{right} of 500");
    }
}
