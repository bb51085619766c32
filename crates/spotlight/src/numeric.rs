//! Central differences: the slope of any function of the parameters, measured.
//!
//! Slow and close to exact. It checks every backward pass in this crate, and the date converter can be trained with nothing else.

use rayon::prelude::*;
use spotlight_kernels::Float;

use crate::Result;
use crate::params::Params;

/// `(f(p + ε) - f(p - ε)) / 2ε` for every parameter `p`. Threads share the parameters; each slope is the same whoever measures it.
///
/// ```
/// use spotlight::numeric::numeric_gradient;
/// use spotlight::params::{Init, Params};
///
/// let mut params = Params::<f64>::new(0);
/// params.add("x", &[2], Init::Constant(3.0));
/// let slopes = numeric_gradient(&params, 1e-5, |p| Ok(p.flat()[0] * p.flat()[0] + p.flat()[1]))?;
/// assert!((slopes[0] - 6.0).abs() < 1e-9 && (slopes[1] - 1.0).abs() < 1e-9);
/// # Ok::<(), spotlight::Error>(())
/// ```
pub fn numeric_gradient<T: Float>(params: &Params<T>, epsilon: f64, f: impl Fn(&Params<T>) -> Result<f64> + Sync) -> Result<Vec<T>> {
    let slope = |params: &mut Params<T>, i: usize| {
        let before = params.flat()[i];
        let (up, down) = (T::from_f64(before.to_f64() + epsilon), T::from_f64(before.to_f64() - epsilon));
        params.flat_mut()[i] = up;
        let above = f(params);
        params.flat_mut()[i] = down;
        let below = f(params);
        params.flat_mut()[i] = before;
        // The step that was really taken, after rounding.
        Ok(T::from_f64((above? - below?) / (up.to_f64() - down.to_f64())))
    };
    (0..params.len()).into_par_iter().map_init(|| params.clone(), slope).collect()
}
