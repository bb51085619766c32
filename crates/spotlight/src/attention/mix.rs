//! The third box: the weighted sum.

use spotlight_kernels::Float;
use spotlight_kernels::pairs::{self, Heads};

use crate::axis::Pairs;
use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// `c = Σ_j a_j v_j` for every query: one row per query, as wide as the values.
///
/// With several columns of weights, each head mixes its own share of the values: head `h` of `H` the features from `h / H` to `(h + 1) / H` of each row.
pub fn mix<T: Float>(tape: &Tape<T>, weights: Var, values: Var, pairs: &Pairs) -> Result<Var> {
    let ((rows, heads), (memory, width)) = (tape.shape(weights), tape.shape(values));
    if rows != pairs.axis().rows() {
        return Err(Error::Shape { op: "mix", expected: format!("{} rows, one per pair", pairs.axis().rows()), got: (rows, heads) });
    }
    if memory != pairs.keys().rows() || width == 0 || heads == 0 || !width.is_multiple_of(heads) {
        let expected = format!("{} rows of values that {heads} heads can share", pairs.keys().rows());
        return Err(Error::Shape { op: "mix", expected, got: (memory, width) });
    }
    let shape = Heads { heads, size: width / heads };
    let mut context = tape.buffer(pairs.queries() * width);
    pairs::mix_forward(pairs.spans(), shape, &tape.value(weights), &tape.value(values), &mut context);
    let kept = pairs.clone();
    Ok(tape.push(context, pairs.queries(), width, None, &[weights, values], |_| {
        Box::new(move |back, dy| {
            let (mut dw, mut dv) = (back.grads.take(weights), back.grads.take(values));
            let (w, v) = (back.values.get(weights), back.values.get(values));
            pairs::mix_backward(kept.spans(), shape, w, v, dy, &mut dw, &mut dv);
            back.grads.put(weights, dw);
            back.grads.put(values, dv);
        })
    }))
}

/// Like [`mix()`], but every head mixes whole rows: the contexts of the heads stand side by side.
pub fn mix_whole<T: Float>(tape: &Tape<T>, weights: Var, values: Var, pairs: &Pairs) -> Result<Var> {
    let heads = tape.shape(weights).1;
    let contexts = (0..heads).map(|head| mix(tape, tape.slice(weights, head, 1)?, values, pairs)).collect::<Result<Vec<_>>>()?;
    if let [one] = contexts[..] { Ok(one) } else { tape.concat(&contexts) }
}
