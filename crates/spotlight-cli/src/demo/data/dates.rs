//! Dates as people write them, with the ISO date they mean.
//!
//! The ISO date comes from the generator, so no parser has to be right. All forms say which number
//! is the day: `10/03/1999`, which is in March or in October depending on the reader, is not among
//! them.

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::{Split, pick, seeded};

/// The forms a date is written in.
///
/// `{month}` is `march`, `{mon}` is `mar`; `{day}` is `3`, `{dd}` is `03`, `{nth}` is `3rd`;
/// `{weekday}` is `sunday`, `{wd}` is `sun`; `{mm}` is the month as two digits, used only after the
/// year.
pub const FORMS: [&str; 16] = [
    "{month} {day}, {year}",
    "{day} {month} {year}",
    "{mon} {day}, {year}",
    "{day} {mon} {year}",
    "{month} {nth}, {year}",
    "{nth} of {month} {year}",
    "the {nth} of {month}, {year}",
    "{month} the {nth}, {year}",
    "{wd} {day} {mon} {year}",
    "{weekday}, {month} {day}, {year}",
    "{weekday} {day} {month} {year}",
    "{year} {month} {day}",
    "{year}, {mon} {day}",
    "{dd}-{mon}-{year}",
    "{mon} {dd} {year}",
    "{year}/{mm}/{dd}",
];

/// The date to show a trained model; neither part of a [`Split`] holds it, in any form.
pub const SHOWPIECE: Example<&str> = Example { text: "march 15, 2024", iso: "2024-03-15" };

/// Years that occur.
const YEARS: std::ops::RangeInclusive<u32> = 1950..=2049;

const MONTHS: [&str; 12] =
    ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"];

const WEEKDAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// A date as written and as meant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Example<S = String> {
    /// The verbose form, in lower case.
    pub text: S,
    /// Year, month and day: `2024-03-15`.
    pub iso: S,
}

/// Dates between 1950 and 2049 in all [`FORMS`]; no date of the test part occurs in the train part
/// in any form.
///
/// One in five dates belongs to the test part. Dates only repeat (in another form, most likely)
/// when more examples are asked for than there are dates: 29,220 to train on and 7,304 to test
/// with.
pub fn examples(train: usize, test: usize, seed: u64) -> Split<Example> {
    let mut rng = seeded(seed);
    let mut dates: Vec<Date> = Date::all().filter(|date| date.iso() != SHOWPIECE.iso).collect();
    dates.shuffle(&mut rng);
    let (for_test, for_train) = dates.split_at(dates.len() / 5);
    Split { train: write(for_train, train, &mut rng), test: write(for_test, test, &mut rng) }
}

fn write(dates: &[Date], count: usize, rng: &mut ChaCha8Rng) -> Vec<Example> {
    let example = |date: &Date| Example { text: date.write(pick::<&str>(rng, &FORMS)), iso: date.iso() };
    dates.iter().cycle().take(count).map(example).collect()
}

/// A day of the Gregorian calendar.
#[derive(Clone, Copy)]
struct Date {
    year: u32,
    /// From 1.
    month: u32,
    /// From 1.
    day: u32,
}

impl Date {
    /// Every date of [`YEARS`].
    fn all() -> impl Iterator<Item = Date> {
        YEARS.flat_map(|year| {
            let months = 1..=12;
            months.flat_map(move |month| (1..=days_in(month, year)).map(move |day| Date { year, month, day }))
        })
    }

    fn iso(self) -> String {
        format!("{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }

    fn write(self, form: &str) -> String {
        let month = MONTHS[self.month as usize - 1];
        let weekday = self.weekday();
        form.replace("{month}", month)
            .replace("{mon}", &month[..3])
            .replace("{mm}", &format!("{:02}", self.month))
            .replace("{day}", &self.day.to_string())
            .replace("{dd}", &format!("{:02}", self.day))
            .replace("{nth}", &format!("{}{}", self.day, ordinal_ending(self.day)))
            .replace("{weekday}", weekday)
            .replace("{wd}", &weekday[..3])
            .replace("{year}", &self.year.to_string())
    }

    /// Sakamoto's method: a month's offset in the week, the year counted from March so that leap
    /// days come last.
    fn weekday(self) -> &'static str {
        const MONTH_OFFSETS: [u32; 12] = [0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4];
        let year = if self.month < 3 { self.year - 1 } else { self.year };
        let leap_days = year / 4 - year / 100 + year / 400;
        let day = year + leap_days + MONTH_OFFSETS[self.month as usize - 1] + self.day;
        WEEKDAYS[day as usize % 7]
    }
}

fn days_in(month: u32, year: u32) -> u32 {
    let leap = year.is_multiple_of(4) && !year.is_multiple_of(100) || year.is_multiple_of(400);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn ordinal_ending(day: u32) -> &'static str {
    match (day % 10, day) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const MARCH: Date = Date { year: 2024, month: 3, day: 15 };

    #[test]
    fn every_form_reads_as_it_should() {
        let written = FORMS.map(|form| MARCH.write(form));
        assert_eq!(
            written,
            [
                "march 15, 2024",
                "15 march 2024",
                "mar 15, 2024",
                "15 mar 2024",
                "march 15th, 2024",
                "15th of march 2024",
                "the 15th of march, 2024",
                "march the 15th, 2024",
                "fri 15 mar 2024",
                "friday, march 15, 2024",
                "friday 15 march 2024",
                "2024 march 15",
                "2024, mar 15",
                "15-mar-2024",
                "mar 15 2024",
                "2024/03/15",
            ]
        );
        assert_eq!((written[0].as_str(), MARCH.iso().as_str()), (SHOWPIECE.text, SHOWPIECE.iso));
        assert_eq!(Date { year: 1996, month: 10, day: 5 }.write("{wd} {day} {mon} {year}"), "sat 5 oct 1996");
        assert_eq!(Date { year: 2018, month: 7, day: 3 }.write("{day} {month} {year}"), "3 july 2018");
        let ends: Vec<_> = [1, 2, 3, 4, 11, 12, 13, 21, 22, 23, 31].map(ordinal_ending).into();
        assert_eq!(ends, ["st", "nd", "rd", "th", "th", "th", "th", "st", "nd", "rd", "st"]);
    }

    #[test]
    fn the_calendar_is_right() {
        assert_eq!(Date::all().count(), 36_525);
        // Weekdays follow one another from a known first one through every leap year.
        let first = WEEKDAYS.iter().position(|&day| day == "sunday").unwrap(); // 1950-01-01
        for (index, date) in Date::all().enumerate() {
            assert_eq!(date.weekday(), WEEKDAYS[(first + index) % 7], "{}", date.iso());
        }
    }

    #[test]
    fn no_date_is_in_both_parts() {
        let split = examples(29_220, 7_304, 3);
        let dates = |part: &[Example]| part.iter().map(|e| e.iso.clone()).collect::<HashSet<_>>();
        let (train, test) = (dates(&split.train), dates(&split.test));
        assert_eq!((train.len(), test.len()), (29_220, 7_304));
        assert!(train.is_disjoint(&test));
        assert!(!train.contains(SHOWPIECE.iso) && !test.contains(SHOWPIECE.iso));
    }

    #[test]
    fn a_seed_gives_the_same_examples_and_all_forms() {
        let split = examples(300, 50, 7);
        assert_eq!(split, examples(300, 50, 7));
        assert_ne!(split, examples(300, 50, 8));
        let shape = |text: &str| text.replace(|c: char| c.is_ascii_digit(), "0").replace(char::is_alphabetic, "a");
        assert!(split.train.iter().map(|e| shape(&e.text)).collect::<HashSet<_>>().len() > FORMS.len());
        assert!(split.train.iter().all(|e| e.text == e.text.to_lowercase() && e.text.len() <= 30));
    }

    #[test]
    fn more_examples_than_dates_can_be_had() {
        assert_eq!(examples(0, 7_400, 1).test.len(), 7_400);
    }
}
