//! How settings are chosen from the data when there is no recipe. What a task's `choose` decides is listed here, and nothing else.

use crate::model::Task;

/// How one setting is chosen.
pub(super) struct Choice {
    pub key: &'static str,
    pub how: &'static str,
    /// Another setting and its value that this one is chosen with; empty for always.
    pub with: (&'static str, &'static str),
}

const ALWAYS: (&str, &str) = ("", "");
const EVIDENCE: (&str, &str) = ("model.form", "evidence");
const POOLED: (&str, &str) = ("model.form", "pooled");

const fn choice(key: &'static str, how: &'static str) -> Choice {
    Choice { key, how, with: ALWAYS }
}

const UNITS: &str = "by the words: characters for single words, numbers and names, and their parts where hundreds of characters are composed of few, as Korean syllables are; words if they are symbols, or few that come again and again; else subwords";
const VOCAB: &str = "one subword for every 25 words, from 500 to 8000";

const ALL: Choice = choice("train.all", "true below 2,000 examples without a development file");

const SEQ2SEQ: &[Choice] = &[
    ALL,
    choice("data.features", "whether the first line has a third column"),
    choice("data.alternatives", "false if more than one row in 20 repeats another, as in running text"),
    choice(
        "data.made_up",
        "1,000 below 500 pairs of spelt texts, if most of them share three letters in a row; up to 300 pairs also if what letters write elsewhere says what they write here",
    ),
    choice("source.units", UNITS),
    choice("source.vocab_size", VOCAB),
    choice("target.units", UNITS),
    choice("target.vocab_size", VOCAB),
    choice("model.architecture", "transformer from 5,000 pairs of sentences on, unless something is set that only a recurrent model has"),
    choice(
        "model.embedding",
        "96 below 10,000 pairs of spelt texts, else 128; 64 below 2,000 pairs of sentences, else 192; of a Transformer as hidden",
    ),
    choice(
        "model.hidden",
        "160 below 10,000 pairs of spelt texts, else 256; 128 below 2,000 pairs of sentences, else 256; of a Transformer 128, and 256 from 20,000 pairs of spelt texts on",
    ),
    choice("model.encoder_layers", "of a Transformer 4 for sentences, 2 for spelt texts"),
    choice("model.decoder_layers", "of a Transformer 4 for sentences, 2 for spelt texts"),
    choice("model.remember", "true for running text, as data.alternatives is false"),
    choice(
        "model.neighbours",
        "true with model.remember, if targets of training rows, each judged by the others, are clearly more probable with what stands around them",
    ),
    choice("model.joint", "true from 1,000 pairs with spelt sources on, without features or copy"),
    choice("model.tied", "true for a Transformer of sentences"),
    choice(
        "model.dropout",
        "0.3; 0.2 from 10,000 pairs of spelt texts on; of a Transformer 0.3, and 0.1 from 20,000 pairs of spelt texts on",
    ),
    choice("transformer.feed_forward", "twice model.hidden"),
    choice("transformer.attention_dropout", "0.1"),
    choice("transformer.activation_dropout", "0.1"),
    choice("transformer.positions", "rotary"),
    choice(
        "train.epochs",
        "300,000 over the number of pairs, from 12 to 100; at most 40 with pairs that are made up; of a Transformer so that there are about 8,000 steps",
    ),
    choice(
        "train.batch",
        "so that all epochs are about 8,000 steps, from 300 to 2,000; of a Transformer a seventieth of all positions of sentences, from 1,000 to 4,000, a thirtieth of spelt texts, to 3,000",
    ),
    choice("train.rate", "of a Transformer 0.003 for sentences, 0.002 for spelt texts"),
    choice("train.beta2", "0.98 for a Transformer"),
    choice("train.warmup", "of a Transformer 800 for sentences, 500 for spelt texts"),
    choice("train.patience", "0 for a Transformer: it gets better until its rate is 0"),
    choice("train.smoothing", "0.1"),
    choice("train.average", "3; 5 for a Transformer of sentences"),
    choice("train.every", "6,000 over the number of pairs, from 1 to 5; of a Transformer a fortieth of all epochs"),
    choice("train.metric", "bleu for 2,000 or more pairs of sentences, else accuracy"),
    choice("search.beam", "5"),
    choice("search.max_ratio", "the largest ratio among the training pairs, rounded up; with a recipe, too"),
];

const CLASSIFY: &[Choice] = &[
    ALL,
    choice("model.form", "evidence, unless an encoder, its units, its pooling or its attention is set"),
    Choice { key: "model.word_dropout", how: "0.1 for evidence", with: EVIDENCE },
    choice("train.epochs", "for evidence a thousand steps, from 10 to 60 epochs; with an encoder for six hundred, from 20 to 100"),
    choice("train.batch", "16 texts for evidence; with an encoder a twentieth of all words, from 100 to 2,000"),
    Choice { key: "train.optimiser", how: "adagrad for evidence", with: EVIDENCE },
    Choice { key: "train.rate", how: "0.1 for evidence", with: EVIDENCE },
    Choice { key: "train.schedule", how: "linear for evidence", with: EVIDENCE },
    Choice { key: "train.warmup", how: "0 for evidence", with: EVIDENCE },
    Choice { key: "train.every", how: "for evidence once, at the end", with: EVIDENCE },
    choice("train.patience", "0 for evidence; 10 with an encoder that needs more than 20 epochs"),
    Choice { key: "train.clip", how: "0 for evidence", with: EVIDENCE },
    Choice { key: "text.units", how: UNITS, with: POOLED },
    Choice { key: "text.vocab_size", how: VOCAB, with: POOLED },
];

const MATCH: &[Choice] = &[
    ALL,
    choice("model.form", "evidence, unless an encoder, its units, its pooling, its attention or how it learns is set"),
    Choice { key: "train.epochs", how: "1 for evidence: its weights are computed", with: EVIDENCE },
    Choice { key: "train.patience", how: "0 for evidence", with: EVIDENCE },
    Choice { key: "train.batch", how: "a twentieth of all words, from 100 to 2,000", with: POOLED },
    Choice { key: "text.units", how: UNITS, with: POOLED },
    Choice { key: "text.vocab_size", how: VOCAB, with: POOLED },
];

const BAGS: &[Choice] = &[
    ALL,
    choice("model.hidden", "256"),
    choice("model.dropout", "0.5"),
    choice("model.mixed", "true: a batch is a number of bags of any size"),
    choice("train.batch", "a quarter of the bags, from 4 to 32"),
    choice("train.epochs", "for six hundred steps, from 20 to 200"),
    choice("train.every", "once, at the end, for few bags"),
    choice("train.patience", "0 for few bags"),
];

/// All choices of a task.
pub(super) fn all(task: Task) -> &'static [Choice] {
    match task {
        Task::Seq2seq => SEQ2SEQ,
        Task::Classify => CLASSIFY,
        Task::Match => MATCH,
        Task::Bags => BAGS,
    }
}

/// How a setting is chosen, if it is.
pub(super) fn of(task: Task, key: &str) -> Option<&'static Choice> {
    all(task).iter().find(|choice| choice.key == key)
}
