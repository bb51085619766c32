//! The phrases tweets are made of.
//!
//! Loving and complaining phrases share most of their words (love, struggling, trade, worth,
//! nothing), so that none of these words tells by itself.

/// What is talked about; `{t}` in a clause, and `it` from the second time on.
pub const TOPICS: [&str; 14] = [
    "deep learning",
    "this course",
    "my new job",
    "this city",
    "this band",
    "my old bike",
    "this phone",
    "the new season",
    "our choir",
    "this bakery",
    "my garden",
    "the night bus",
    "this book",
    "our football club",
];

pub const LOVING: [&str; 14] = [
    "i love {t} more than words can say",
    "i love {t} more than anything i have ever done",
    "i am struggling to say how much i love {t}",
    "i would not trade {t} for anything",
    "{t} makes my whole week",
    "nothing cheers me up like {t}",
    "i keep smiling because of {t}",
    "{t} is the best thing that happened to me this year",
    "i am so grateful for {t}",
    "{t} is worth every single minute",
    "i would do {t} all over again",
    "i cannot complain about {t}",
    "i could not be happier with {t}",
    "{t} has never let me down",
];

pub const COMPLAINING: [&str; 14] = [
    "i am struggling with every single part of {t}",
    "{t} keeps me awake until three in the morning",
    "i keep complaining about {t}",
    "{t} is driving me up the wall",
    "i have had enough of {t}",
    "i used to love {t} more than anything",
    "i would love to say something good about {t}",
    "{t} lets me down every time",
    "{t} is the worst thing that happened to me this week",
    "nothing about {t} works the way it should",
    "i would trade {t} for anything",
    "i cannot say that {t} makes me happy",
    "i could not be more tired of {t}",
    "{t} has never been worth the money",
];

pub const GOOD: [&str; 7] = ["great", "fun", "brilliant", "pleasant", "lovely", "exciting", "good"];
pub const BAD: [&str; 7] = ["bad", "boring", "terrible", "awful", "useless", "annoying", "sad"];

/// Clauses around an adjective `{a}`, and whether they say its opposite.
pub const JUDGEMENTS: [(&str, bool); 8] = [
    ("{t} is so {a} this time", false),
    ("{t} was {a} from start to finish", false),
    ("i find {t} really {a}", false),
    ("{t} is {a} as always", false),
    ("{t} is not {a} at all", true),
    ("{t} is anything but {a}", true),
    ("{t} is not what i call {a}", true),
    ("i would never call {t} {a}", true),
];

/// Praise in words that turns into irony before bad news.
pub const EXCLAMATIONS: [&str; 6] = [
    "oh great , {n}",
    "just what i needed , {n}",
    "wonderful , {n}",
    "{n} , how lovely",
    "thank you universe , {n}",
    "{n} , what a day to be alive",
];

pub const GOOD_NEWS: [&str; 10] = [
    "the train is early for once",
    "my laptop is back before the deadline",
    "there is cake in the kitchen again",
    "the sun is out on my only day off",
    "the printer works on the first try",
    "my code runs on the first try",
    "a whole evening without a meeting",
    "the neighbours brought us soup again",
    "my flight home leaves on time",
    "somebody found my keys",
];

pub const BAD_NEWS: [&str; 10] = [
    "the train is late again",
    "my laptop died before the deadline",
    "there is no coffee in the kitchen again",
    "the rain is back on my only day off",
    "the printer broke on the first page",
    "my code broke on the last try",
    "a whole evening with another meeting",
    "the neighbours brought a drum home",
    "my flight home leaves without me",
    "somebody took my keys",
];

/// How `{c}`, what is conceded, and `{m}`, the main clause that decides, are joined, and whether
/// the main clause comes first.
pub const CONCESSIONS: [(&str, bool); 7] = [
    ("{c} but {m}", false),
    ("{c} but in the end {m}", false),
    ("although {c} , {m}", false),
    ("yes , {c} , still {m}", false),
    ("{m} even though {c}", true),
    ("{m} , although {c}", true),
    ("{m} , never mind that {c}", true),
];

/// How a verdict `{m}` follows or precedes thoughts `{c}` of either kind, and whether it comes
/// first.
pub const VERDICTS: [(&str, bool); 5] = [
    ("{c} , and in the end {m}", false),
    ("{c} , all in all {m}", false),
    ("{c} , so at the end of the day {m}", false),
    ("long story short , {m} , apart from that {c}", true),
    ("the main thing is that {m} , besides {c}", true),
];

pub const OPENINGS: [&str; 12] = [
    "dear professor ,",
    "ok so",
    "honestly ,",
    "note to self :",
    "monday thoughts :",
    "update :",
    "not sure who needs to hear this :",
    "dear diary ,",
    "hot take :",
    "my sister asked , so here it is :",
    "three weeks in :",
    "good morning everyone ,",
];

pub const REMARKS: [&str; 14] = [
    "my roommate just walked in with two coffees",
    "the bus is at the corner of my street now",
    "it is four in the afternoon and i am on my second tea",
    "my phone says it is tuesday",
    "somebody is playing the piano next door",
    "we are on the way to the lake with my cousin",
    "i wrote this on a napkin first",
    "the cat is asleep on the keyboard",
    "dinner is at seven",
    "i told my brother about it on the phone",
    "the window is open and you can hear the street",
    "back to work now",
    "more about this later",
    "the kettle is on",
];
