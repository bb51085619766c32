//! Compile a loop for several instruction sets and choose at run time.

/// Defines a function generic over [`Float`](crate::Float) whose body is compiled for the baseline processor and for AVX2 + FMA; after `#![widest]` also, for `f32`, for AVX-512 with its products of
/// bytes (Ice Lake, Zen 4 and newer).
///
/// Inside the body, `FMA` is a constant that says whether a fused multiply-add is an instruction here; write `T::fma::<FMA>(a, b, c)`
/// for `a * b + c`. Without the constant the baseline version would call a library function for every product. `WIDEST` says whether registers have 512 bits, and are 32.
macro_rules! simd {
    (#![widest] $($function:tt)*) => {
        simd! { @ true; $($function)* }
    };
    (@ $widest:literal; $(#[$meta:meta])* $vis:vis fn $name:ident<T $(, const $cg:ident: usize)?>($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block) => {
        $(#[$meta])*
        #[allow(clippy::too_many_arguments)]
        $vis fn $name<T: $crate::Float $(, const $cg: usize)?>($($arg: $ty),*) $(-> $ret)? {
            #[cfg(test)]
            $crate::simd::tests::note(file!(), stringify!($name));

            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            fn body<T: $crate::Float, const FMA: bool, const WIDEST: bool $(, const $cg: usize)?>($($arg: $ty),*) $(-> $ret)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,avx2,fma")]
                #[allow(clippy::too_many_arguments)]
                fn avx512<T: $crate::Float $(, const $cg: usize)?>($($arg: $ty),*) $(-> $ret)? {
                    body::<T, true, true $(, $cg)?>($($arg),*)
                }
                #[target_feature(enable = "avx2,fma")]
                #[allow(clippy::too_many_arguments)]
                fn avx2<T: $crate::Float $(, const $cg: usize)?>($($arg: $ty),*) $(-> $ret)? {
                    body::<T, true, false $(, $cg)?>($($arg),*)
                }
                if $widest && T::BYTES == 4 && $crate::simd::widest() {
                    // SAFETY: `avx512` needs exactly the features that `widest` has found.
                    return unsafe { avx512::<T $(, $cg)?>($($arg),*) };
                }
                if $crate::simd::wide() {
                    // SAFETY: `avx2` needs exactly the two features that `wide` has found.
                    return unsafe { avx2::<T $(, $cg)?>($($arg),*) };
                }
            }
            // On aarch64 the fused multiply-add belongs to the baseline.
            #[cfg(target_arch = "aarch64")]
            return body::<T, true, false $(, $cg)?>($($arg),*);
            #[cfg(not(target_arch = "aarch64"))]
            body::<T, false, false $(, $cg)?>($($arg),*)
        }
    };
    ($($function:tt)*) => {
        simd! { @ false; $($function)* }
    };
}

/// Runs an expression with the constant `M` equal to `$mr`, a number from 1 to 6, or to 12 if `$widest`.
macro_rules! by_rows {
    ($mr:expr, $widest:ident, $m:ident => $run:expr) => {
        match $mr {
            12 if $widest => by_rows!(@ 12, $m, $run),
            11 if $widest => by_rows!(@ 11, $m, $run),
            10 if $widest => by_rows!(@ 10, $m, $run),
            9 if $widest => by_rows!(@ 9, $m, $run),
            8 if $widest => by_rows!(@ 8, $m, $run),
            7 if $widest => by_rows!(@ 7, $m, $run),
            6 => by_rows!(@ 6, $m, $run),
            5 => by_rows!(@ 5, $m, $run),
            4 => by_rows!(@ 4, $m, $run),
            3 => by_rows!(@ 3, $m, $run),
            2 => by_rows!(@ 2, $m, $run),
            _ => by_rows!(@ 1, $m, $run),
        }
    };
    (@ $n:literal, $m:ident, $run:expr) => {{
        const $m: usize = $n;
        $run
    }};
}

/// Whether AVX2 and fused multiply-add are there (and no test wants to do without).
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn wide() -> bool {
    #[cfg(test)]
    if tests::UP_TO.get() < tests::Level::Wide {
        return false;
    }
    std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
}

/// Whether all that a loop for AVX-512 needs is there (and no test wants to do without).
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn widest() -> bool {
    #[cfg(test)]
    if tests::UP_TO.get() < tests::Level::Widest {
        return false;
    }
    wide()
        && std::arch::is_x86_feature_detected!("avx512f")
        && std::arch::is_x86_feature_detected!("avx512bw")
        && std::arch::is_x86_feature_detected!("avx512dq")
        && std::arch::is_x86_feature_detected!("avx512vl")
        && std::arch::is_x86_feature_detected!("avx512vnni")
}

#[cfg(test)]
pub(crate) mod tests;
