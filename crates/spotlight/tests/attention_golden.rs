//! Attention against PyTorch: weights, contexts and gradients of the cases in `golden/attention.json` and `golden/decoder.json`, in both number types.

use std::collections::HashMap;

use spotlight::attention::score::Sizes;
use spotlight::attention::{
    Attention, AttentionConfig, Mask, MultiHead, MultiHeadConfig, Normaliser, Pool, Question, Score, ScoreConfig, ScoreKind, SoftmaxConfig,
    SoftmaxKind, mix,
};
use spotlight::axis::{Axis, Pairs};
use spotlight::decoder::{Coverage, DecoderConfig, Order, RecurrentDecoder, State};
use spotlight::params::{Gradients, Init, ParamId, Params};
use spotlight::tape::{Tape, Var};
use spotlight::{Cell, Float, Result};

struct Case {
    name: String,
    config: serde_json::Value,
    tensors: HashMap<String, (Vec<usize>, Vec<f64>)>,
}

impl Case {
    fn load(topic: &str, name: &str) -> Case {
        let path = format!("{}/tests/golden/{topic}.json", env!("CARGO_MANIFEST_DIR"));
        let file: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let case = file["cases"].as_array().unwrap().iter().find(|case| case["name"] == name).unwrap_or_else(|| panic!("no case {name}"));
        let numbers = |v: &serde_json::Value| v.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect::<Vec<_>>();
        let tensor = |t: &serde_json::Value| (numbers(&t["shape"]).iter().map(|&n| n as usize).collect(), numbers(&t["data"]));
        let tensors = case["tensors"].as_object().unwrap().iter().map(|(name, t)| (name.clone(), tensor(t))).collect();
        Case { name: name.into(), config: case["config"].clone(), tensors }
    }

    fn data<T: Float>(&self, name: &str) -> Vec<T> {
        self.tensors[name].1.iter().map(|&x| T::from_f64(x)).collect()
    }

    fn axis(&self, name: &str) -> Axis {
        Axis::new(self.config[name].as_array().unwrap().iter().map(|x| x.as_u64().unwrap() as usize).collect::<Vec<_>>())
    }

    fn number(&self, name: &str) -> usize {
        self.config[name].as_u64().unwrap() as usize
    }

    /// Columns of a tensor.
    fn width(&self, name: &str) -> usize {
        self.tensors[name].0[1..].iter().product()
    }

    /// An input of the case as a parameter, so that its gradient can be seen.
    fn input<T: Float>(&self, params: &mut Params<T>, name: &str) -> ParamId {
        let shape = &self.tensors[name].0;
        let cols: usize = shape[1..].iter().product();
        params.add(format!("input.{name}"), &[shape[0], cols], Init::Zeros)
    }

    fn close(&self, what: &str, got: &[f64], tolerance: f64) {
        let want = &self.tensors[what].1;
        assert_eq!(got.len(), want.len(), "{}: {what}", self.name);
        let size = want.iter().fold(1.0f64, |m, x| m.max(x.abs()));
        for (i, (got, want)) in got.iter().zip(want).enumerate() {
            assert!((got - want).abs() <= tolerance * size, "{}: {what}[{i}]: {got} instead of {want}", self.name);
        }
    }

    /// Fills the parameters (those of `prefix` under the case's own names), runs `f`, compares its outputs and all gradients.
    fn compare<T: Float>(&self, mut params: Params<T>, prefix: &str, f: impl Fn(&Tape<T>) -> Result<Vec<(&'static str, Var)>>) {
        let tolerance = if T::BYTES == 8 { 1e-10 } else { 1e-5 };
        let of_case = |name: &str| {
            let name = name.strip_prefix("input.").or(name.strip_prefix(prefix)).unwrap_or(name);
            // The cells of the fixtures are single cells, ours the lowest of a stack; a one-row kernel stands in torch's three dimensions.
            name.strip_suffix("_l0").unwrap_or(name).to_string()
        };
        let entries = params.entries().to_vec();
        for entry in &entries {
            let id = params.find(&entry.name).unwrap();
            params.get_mut(id).copy_from_slice(&self.data::<T>(&of_case(&entry.name)));
        }
        let mut gradients = Gradients::new(&params);
        let tape = Tape::training(&params, &mut gradients, 0);
        let outputs = f(&tape).unwrap();
        let mut sent = Vec::new();
        for (name, var) in outputs {
            self.close(name, &tape.to_vec(var).iter().map(|x| x.to_f64()).collect::<Vec<_>>(), tolerance);
            if self.tensors.contains_key(&format!("loss_weights.{name}")) {
                sent.push((var, self.data::<T>(&format!("loss_weights.{name}"))));
            }
        }
        tape.backward_with(&sent, &[]).unwrap();
        let flat = gradients.flat().to_vec();
        for entry in &entries {
            let found: Vec<f64> = flat[entry.range.clone()].iter().map(|x| x.to_f64()).collect();
            self.close(&format!("grad.{}", of_case(&entry.name)), &found, tolerance);
        }
    }
}

/// Runs a check in both number types.
macro_rules! in_both {
    ($check:ident($($argument:expr),*)) => {{
        $check::<f64>($($argument),*);
        $check::<f32>($($argument),*);
    }};
}

fn with_query<T: Float>(name: &str, config: AttentionConfig) {
    let case = Case::load("attention", name);
    let (queries, keys) = (case.axis("query_lengths"), case.axis("memory_lengths"));
    let mut params = Params::<T>::new(0);
    let sizes = Sizes { query: case.width("query"), memory: case.width("memory"), coverage: false };
    let score = Score::new(&mut params, "attention", &config.score, sizes).unwrap();
    let normaliser = Normaliser::new(&mut params, "attention", config.softmax, sizes.query).unwrap();
    let [query, memory, values] = ["query", "memory", "values"].map(|name| case.input(&mut params, name));
    case.compare(params, "attention.", |t| {
        let question = Question::of_axes(Some(t.param(query)), &queries, &keys)?;
        let scores = score.scores(t, score.keys(t, t.param(memory))?, &question)?;
        let weights = normaliser.weights(t, scores, &question)?.weights;
        Ok(vec![("scores", scores), ("weights", weights), ("context", mix(t, weights, t.param(values), &question.pairs)?)])
    });
}

#[test]
fn scores_with_a_query() {
    let aligned = |kind| AttentionConfig { score: ScoreConfig { alignment: Some(5), ..kind }, ..Default::default() };
    for (name, kind) in [
        ("additive", ScoreKind::Additive),
        ("dot", ScoreKind::Dot),
        ("general", ScoreKind::General),
        ("concat", ScoreKind::Concat),
        ("cosine", ScoreKind::Cosine),
    ] {
        in_both!(with_query(name, aligned(kind.into())));
    }
    in_both!(with_query("additive_normalised", aligned(ScoreConfig { normalised: true, ..ScoreConfig::default() })));
}

#[test]
fn what_can_stand_in_the_place_of_the_softmax() {
    let dot = |softmax| AttentionConfig { softmax, ..AttentionConfig::new(ScoreKind::Dot) };
    in_both!(with_query("sparsemax_dot", dot(SoftmaxKind::Sparsemax.into())));
    in_both!(with_query("local_m", dot(SoftmaxConfig { half_width: 1, ..SoftmaxKind::LocalM.into() })));
    in_both!(with_query("local_p", dot(SoftmaxConfig { half_width: 2, centre: Some(5), ..SoftmaxKind::LocalP.into() })));
    in_both!(with_query("entmax_dot", dot(SoftmaxKind::Entmax.into())));
    in_both!(alone("sparsemax", SoftmaxKind::Sparsemax));
    in_both!(alone("entmax", SoftmaxKind::Entmax));
    in_both!(monotonic());
}

fn alone<T: Float>(name: &str, kind: SoftmaxKind) {
    let case = Case::load("attention", name);
    let keys = case.axis("memory_lengths");
    let mut params = Params::<T>::new(0);
    let normaliser = Normaliser::new(&mut params, "", kind.into(), 0).unwrap();
    let scores = case.input(&mut params, "scores");
    case.compare(params, "", |t| {
        let items: Vec<usize> = (0..keys.items()).collect();
        let question = Question::of_items(None, &items, &keys, 0)?;
        Ok(vec![("weights", normaliser.weights(t, t.param(scores), &question)?.weights)])
    });
}

fn monotonic<T: Float>() {
    let case = Case::load("attention", "monotonic");
    let (queries, keys) = (case.axis("query_lengths"), case.axis("memory_lengths"));
    let mut params = Params::<T>::new(0);
    let normaliser = Normaliser::new(&mut params, "", SoftmaxKind::Monotonic.into(), 0).unwrap();
    let [scores, values] = ["scores", "values"].map(|name| case.input(&mut params, name));
    case.compare(params, "", |t| {
        let question = Question::of_axes(None, &queries, &keys)?;
        let weights = normaliser.weights(t, t.param(scores), &question)?.weights;
        Ok(vec![("weights", weights), ("context", mix(t, weights, t.param(values), &question.pairs)?)])
    });
}

fn query_free<T: Float>(name: &str, kind: ScoreKind) {
    let case = Case::load("attention", name);
    let keys = case.axis("memory_lengths");
    let mut params = Params::<T>::new(0);
    let config = AttentionConfig { score: ScoreConfig { alignment: Some(5), ..kind.into() }, ..Default::default() };
    let pool = Pool::new(&mut params, "pool", &config, case.width("memory")).unwrap();
    let memory = case.input(&mut params, "memory");
    case.compare(params, "pool.", |t| {
        let pooled = pool.forward(t, t.on_axis(t.param(memory), &keys)?, None)?;
        Ok(vec![("weights", pooled.weights), ("context", pooled.context)])
    });
}

#[test]
fn scores_without_a_query_pool() {
    for (name, kind) in [("linear", ScoreKind::Linear), ("tanh_linear", ScoreKind::Tanh), ("gated", ScoreKind::Gated)] {
        in_both!(query_free(name, kind));
    }
}

fn location<T: Float>(name: &str) {
    let case = Case::load("attention", name);
    let (queries, keys) = (case.axis("query_lengths"), case.axis("memory_lengths"));
    let mut params = Params::<T>::new(0);
    let score = ScoreConfig {
        alignment: Some(5),
        filters: case.number("filters"),
        filter_width: case.number("width"),
        ..ScoreKind::Location.into()
    };
    let sizes = Sizes { query: case.width("query"), memory: case.width("memory"), coverage: false };
    let score = Score::new(&mut params, "attention", &score, sizes).unwrap();
    let softmax = Normaliser::new(&mut params, "attention", SoftmaxConfig::default(), 0).unwrap();
    let [query, memory, values] = ["query", "memory", "values"].map(|name| case.input(&mut params, name));
    let previous = params.add("input.previous_weights", &[keys.rows(), 1], Init::Zeros);
    case.compare(params, "attention.", |t| {
        let prepared = score.keys(t, t.param(memory))?;
        let (mut all, mut contexts) = (Vec::new(), Vec::new());
        for item in 0..queries.items() {
            let mut previous = t.rows(t.param(previous), keys.offsets()[item], keys.lengths()[item])?;
            for row in queries.range(item) {
                let mut question = Question::of_items(Some(t.rows(t.param(query), row, 1)?), &[item], &keys, 0)?;
                question.previous = Some(previous);
                previous = softmax.weights(t, score.scores(t, prepared, &question)?, &question)?.weights;
                all.push(previous);
                contexts.push(mix(t, previous, t.param(values), &question.pairs)?);
            }
        }
        Ok(vec![("weights", t.stack(&all)?), ("context", t.stack(&contexts)?)])
    });
}

#[test]
fn location_aware_score() {
    in_both!(location("location_aware_step"));
    in_both!(location("location_aware"));
}

/// The mask of a case: causal, or written out.
fn mask_of(case: &Case, pairs: &Pairs, queries: &Axis) -> Option<Mask> {
    if case.config["causal"].as_bool().unwrap() {
        return Some(Mask::causal(pairs, &Mask::positions(queries)).unwrap());
    }
    let written = case.config.get("mask")?.as_array().unwrap();
    Some(Mask::pairs(pairs, written.iter().map(|x| x.as_u64() == Some(1)).collect()).unwrap())
}

/// The boxes alone, several heads in one product: each head as a slice with a score of its own gives what torch's product gives.
fn scaled_dot<T: Float>(name: &str) {
    let case = Case::load("attention", name);
    let (queries, keys, heads) = (case.axis("query_lengths"), case.axis("memory_lengths"), case.number("heads"));
    let size = case.width("query") / heads;
    let mut params = Params::<T>::new(0);
    let sizes = Sizes { query: size, memory: size, coverage: false };
    let score = Score::new(&mut params, "", &ScoreKind::ScaledDot.into(), sizes).unwrap();
    let softmax = Normaliser::new(&mut params, "", SoftmaxConfig::default(), 0).unwrap();
    let [query, key, value] = ["query", "key", "value"].map(|name| case.input(&mut params, name));
    case.compare(params, "", |t| {
        let mut question = Question::of_axes(None, &queries, &keys)?;
        if let Some(mask) = mask_of(&case, &question.pairs, &queries) {
            question = question.masked(&mask)?;
        }
        let mut columns = Vec::new();
        for head in 0..heads {
            question.query = Some(t.slice(t.param(query), head * size, size)?);
            columns.push(score.scores(t, t.slice(t.param(key), head * size, size)?, &question)?);
        }
        let weights = softmax.weights(t, t.concat(&columns)?, &question)?.weights;
        Ok(vec![("weights", weights), ("context", mix(t, weights, t.param(value), &question.pairs)?)])
    });
}

#[test]
fn scaled_dot_product_attention() {
    for name in [
        "scaled_dot",
        "scaled_dot_causal",
        "scaled_dot_causal_rectangular",
        "scaled_dot_masked",
        "scaled_dot_two_heads",
        "scaled_dot_two_heads_causal",
    ] {
        in_both!(scaled_dot(name));
    }
}

fn multi_head<T: Float>(name: &str) {
    let case = Case::load("attention", name);
    let (queries, keys) = (case.axis("query_lengths"), case.axis("memory_lengths"));
    let alone = case.config["self_attention"].as_bool().unwrap();
    let mut params = Params::<T>::new(0);
    let config = MultiHeadConfig { heads: case.number("heads"), causal: case.config["causal"].as_bool().unwrap(), ..Default::default() };
    let (embed, key, value) = (case.number("embed"), case.number("key_width"), case.number("value_width"));
    let attention = MultiHead::new(&mut params, "attention", &config, embed, key, value).unwrap();
    let query = case.input(&mut params, "query");
    let memory = (!alone).then(|| ["key", "value"].map(|name| case.input(&mut params, name)));
    case.compare(params, "attention.", |t| {
        let query = t.on_axis(t.param(query), &queries)?;
        let out = match memory {
            Some([key, value]) => attention.forward(t, query, t.on_axis(t.param(key), &keys)?, t.on_axis(t.param(value), &keys)?, None)?,
            None => attention.self_attention(t, query, None)?,
        };
        Ok(vec![("weights", out.weights), ("context", out.context)])
    });
}

#[test]
fn torch_multi_head_attention() {
    for name in ["multi_head_self", "multi_head_self_causal", "multi_head_cross", "multi_head_cross_other_widths"] {
        in_both!(multi_head(name));
    }
}

/// Step by step as a search would, so that an LSTM's cell states can be seen.
fn bahdanau<T: Float>(name: &str, cell: Cell) {
    let case = Case::load("decoder", name);
    let (source, target) = (case.axis("source_lengths"), case.axis("target_lengths"));
    let mut params = Params::<T>::new(0);
    let score = ScoreConfig { alignment: Some(3), ..ScoreConfig::default() };
    let config = DecoderConfig {
        attention: Some(AttentionConfig { score, ..Default::default() }),
        ..DecoderConfig::new(cell, case.number("embed"), case.number("hidden"), case.number("memory"))
    };
    let decoder = RecurrentDecoder::new(&mut params, "decoder", config).unwrap();
    let [y, memory, s0] = ["inputs", "memory", "s0"].map(|name| case.input(&mut params, name));
    let c0 = (cell == Cell::Lstm).then(|| case.input(&mut params, "cell0"));
    case.compare(params, "decoder.", |t| {
        let memory = decoder.prepare(t, t.on_axis(t.param(memory), &source)?)?;
        let c0: Vec<Var> = c0.iter().map(|&id| t.param(id)).collect();
        let start = decoder.start(t, &memory, target.items(), &[t.param(s0)], &c0)?;
        let y = t.on_axis(t.param(y), &target)?;
        let fused = decoder.teacher_forced(t, y, &memory, &start)?;
        case.close("states", &t.to_vec(fused.states).iter().map(|x| x.to_f64()).collect::<Vec<_>>(), 1e-5);
        case.close("weights", &t.to_vec(fused.weights.unwrap()).iter().map(|x| x.to_f64()).collect::<Vec<_>>(), 1e-5);
        let plain = decoder.step_by_step(t, y, &memory, &start)?;
        let mut out = vec![("states", plain.states), ("contexts", plain.contexts.unwrap()), ("weights", plain.weights.unwrap())];
        if cell == Cell::Lstm {
            // One layer: its state, then its cell state.
            let run = t.scan(&target, &[y], &start.tables, |step, y, before| {
                let state = State { step: step.index, tables: before.to_vec() };
                Ok(decoder.step(t, y[0], &state, &memory, step.items)?.state.tables)
            })?;
            out.push(("cells", run.states[1]));
        }
        Ok(out)
    });
}

#[test]
fn bahdanau_decoder() {
    in_both!(bahdanau("bahdanau_gru", Cell::Gru));
    in_both!(bahdanau("bahdanau_lstm", Cell::Lstm));
    in_both!(bahdanau("bahdanau_rnn", Cell::Tanh));
}

fn luong<T: Float>() {
    let case = Case::load("decoder", "luong_gru");
    let (source, target) = (case.axis("source_lengths"), case.axis("target_lengths"));
    let mut params = Params::<T>::new(0);
    let config = DecoderConfig {
        order: Order::Luong,
        attention: Some(AttentionConfig::new(ScoreKind::General)),
        input_feeding: true,
        coverage: Coverage::Off,
        ..DecoderConfig::new(Cell::Gru, case.number("embed"), case.number("hidden"), case.number("memory"))
    };
    let decoder = RecurrentDecoder::new(&mut params, "decoder", config).unwrap();
    let [y, memory, s0, hbar0] = ["inputs", "memory", "s0", "hbar0"].map(|name| case.input(&mut params, name));
    case.compare(params, "decoder.", |t| {
        let memory = decoder.prepare(t, t.on_axis(t.param(memory), &source)?)?;
        let mut start = decoder.start(t, &memory, target.items(), &[t.param(s0)], &[])?;
        // What is fed stands behind the state of the one layer.
        start.tables[1] = t.param(hbar0);
        let out = decoder.teacher_forced(t, t.on_axis(t.param(y), &target)?, &memory, &start)?;
        let (contexts, weights) = (out.contexts.unwrap(), out.weights.unwrap());
        Ok(vec![("states", out.states), ("contexts", contexts), ("weights", weights), ("attentional", out.readout)])
    });
}

#[test]
fn luong_decoder_with_input_feeding() {
    in_both!(luong());
}

/// Whole attention objects name their parameters as the fixtures do, so torch's weights load by name.
#[test]
fn names_are_readable() {
    let mut params = Params::<f32>::new(0);
    Attention::new(&mut params, "attention", &AttentionConfig::default(), 3, 4).unwrap();
    assert_eq!(params.names().collect::<Vec<_>>(), ["attention.query.weight", "attention.memory.weight", "attention.v"]);
}
