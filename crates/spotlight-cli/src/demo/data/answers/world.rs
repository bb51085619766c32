//! All that is known: animals, tools, and the towns of an island.
//!
//! Most answers avoid the words in which their question asks; answers to other questions use them.

/// A kind of thing, all that can be asked about it, and all we know.
pub struct Kind {
    /// What can be asked about.
    pub matters: &'static [Matter],
    /// A row for each thing: its name, then a fact for each matter, separated by ` | `.
    pub things: &'static [&'static str],
}

/// Something one can ask about; `{x}` is the thing and `{f}` the fact.
pub struct Matter {
    /// Two wordings of the question.
    pub questions: [&'static str; 2],
    /// Two wordings of the answer.
    pub answers: [&'static str; 2],
}

pub const WORLD: [Kind; 3] = [
    Kind {
        matters: &[
            Matter {
                questions: ["what does {x} eat ?", "what is the usual food of {x} ?"],
                answers: ["{x} feeds on {f} .", "{f} make up the meals of {x} ."],
            },
            Matter {
                questions: ["where does {x} live ?", "in what kind of place would you meet {x} ?"],
                answers: ["{x} likes to live {f} .", "the home of {x} is {f} ."],
            },
            Matter {
                questions: ["when does {x} hunt ?", "at what time is {x} awake ?"],
                answers: ["{x} goes out for food {f} .", "{f} you may meet {x} ."],
            },
            Matter {
                questions: ["how long does {x} live ?", "how old does {x} usually get ?"],
                answers: ["{x} reaches an age of {f} .", "after {f} the life of {x} is over ."],
            },
            Matter {
                questions: ["how much does {x} weigh ?", "how heavy is {x} as a rule ?"],
                answers: ["{x} brings {f} on the scales .", "the scales show {f} for {x} ."],
            },
        ],
        things: &[
            "the heron | fish and frogs | by still water | at dawn | fifteen years | two kilos",
            "the badger | worms and roots | in a burrow in the woods | at night | ten years | twelve kilos",
            "the hedgehog | beetles and slugs | under the hedge | after dusk | four years | one kilo",
            "the squirrel | nuts and seeds | in a tall tree | by day | six years | three hundred grams",
            "the otter | crabs and eels | on the bank of a river | at dusk | nine years | eight kilos",
            "the barn owl | mice and voles | in an old barn | at midnight | five years | four hundred grams",
            "the bat | moths and gnats | under the roof | after sunset | twenty years | ten grams",
            "the red deer | grass and bark | in the hills | at sunrise | sixteen years | two hundred kilos",
            "the toad | spiders and ants | under wet stones | on rainy nights | twelve years | eighty grams",
            "the stork | snakes and snails | on the chimney | before noon | twenty five years | three kilos",
            "the seal | herring and squid | on the rocks by the sea | at high tide | thirty years | one hundred kilos",
            "the fox | rabbits and berries | in a den at the edge of the field | before sunrise | three years | seven kilos",
        ],
    },
    Kind {
        matters: &[
            Matter {
                questions: ["what is {x} used for ?", "what do people do with {x} ?"],
                answers: ["{x} serves to {f} .", "to {f} you had better take {x} ."],
            },
            Matter {
                questions: ["what is {x} made of ?", "which material is needed for {x} ?"],
                answers: ["{x} consists of {f} .", "the workshop turns {f} into {x} ."],
            },
            Matter {
                questions: ["where do people keep {x} ?", "in what place should {x} be put after use ?"],
                answers: ["{x} belongs {f} .", "{f} is where {x} lies ."],
            },
            Matter {
                questions: ["who works with {x} ?", "which trade cannot do without {x} ?"],
                answers: ["{x} is used by {f} every day .", "{f} would be lost without {x} ."],
            },
            Matter {
                questions: ["how expensive is {x} ?", "what is the price of {x} ?"],
                answers: ["{x} costs {f} .", "people pay {f} for {x} ."],
            },
        ],
        things: &[
            "the plane | smooth a board | beech and iron | on the long bench | the joiner | forty crowns",
            "the anvil | shape hot metal | solid steel | on an oak block | the blacksmith | ninety crowns",
            "the trowel | spread mortar | steel with a wooden grip | in the bucket | the bricklayer | six crowns",
            "the whisk | beat egg whites | thin wire | in the kitchen drawer | the pastry cook | three crowns",
            "the thimble | guard a finger | brass | in the sewing box | the tailor | one crown",
            "the awl | pierce leather | a steel point in a handle | in a cork | the saddler | four crowns",
            "the scythe | mow tall grass | a curved blade and ash wood | on two nails in the barn | the farmer | thirty crowns",
            "the sextant | measure the height of the sun | brass and mirrors | in a box in the cabin | the navigator | three hundred crowns",
            "the loom | weave cloth | a wooden frame with threads | in the upper room | the weaver | two hundred crowns",
            "the lathe | turn table legs | cast iron | by the north window | the wood turner | five hundred crowns",
            "the net | catch herring | knotted cord | on the drying poles | the fisher | fifty crowns",
            "the bellows | feed a fire with air | leather and two boards | next to the hearth | the glassblower | twenty crowns",
        ],
    },
    Kind {
        matters: &[
            Matter {
                questions: ["where is {x} ?", "in which part of the island does {x} lie ?"],
                answers: ["{x} stands {f} .", "travellers reach {x} {f} ."],
            },
            Matter {
                questions: ["how many people live in {x} ?", "how large is {x} ?"],
                answers: ["{x} has {f} inhabitants .", "{f} souls call {x} their home ."],
            },
            Matter {
                questions: ["when was {x} founded ?", "how old is {x} ?"],
                answers: ["the first houses of {x} were built {f} .", "{f} settlers chose the site of {x} ."],
            },
            Matter {
                questions: ["what is {x} famous for ?", "why do travellers like {x} ?"],
                answers: ["everybody knows {x} by {f} .", "people visit {x} for {f} ."],
            },
            Matter {
                questions: ["when is the market of {x} ?", "on which day do people sell things in {x} ?"],
                answers: ["the stalls of {x} open {f} .", "{f} farmers bring their goods to {x} ."],
            },
        ],
        things: &[
            "norwick | on the northern cape | nine hundred | in the year of the comet | its lighthouse | on mondays",
            "tallow bay | on the western shore | four thousand | three centuries ago | its candles | on fridays",
            "hollin | in the middle valley | two thousand | after the great flood | its apple wine | on saturdays",
            "greyford | where the two rivers meet | twelve thousand | in roman times | its stone bridge | every morning",
            "sallow end | at the edge of the marsh | three hundred | sixty years ago | its baskets | on the first of the month",
            "high carrow | on the ridge | seven hundred | before the long war | its cheese | on thursdays",
            "pell harbour | on the southern coast | eight thousand | when the whalers came | its smoked fish | on sundays",
            "oxmere | beside the deep lake | five thousand | under the old queen | its regatta | on wednesdays",
            "thistledown | on the eastern plain | six hundred | a century ago | its kites | on tuesdays",
            "brandle | below the quarry | three thousand | in the iron age | its bells | twice a week",
            "little ash | in the beech forest | eighty | last century | its puppet theatre | only in autumn",
            "quern | at the windmills | one thousand | before there were maps | its bread | at the full moon",
        ],
    },
];
