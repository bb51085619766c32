//! Compile a loop for several instruction sets and choose at run time.

/// Defines a function generic over [`Float`](crate::Float) whose body is compiled for the baseline processor and for AVX2 + FMA.
///
/// Inside the body, `FMA` is a constant that says whether a fused multiply-add is an instruction here; write `T::fma::<FMA>(a, b, c)`
/// for `a * b + c`. Without the constant the baseline version would call a library function for every product.
macro_rules! simd {
    ($(#[$meta:meta])* $vis:vis fn $name:ident<T $(, const $cg:ident: usize)?>($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block) => {
        $(#[$meta])*
        #[allow(clippy::too_many_arguments)]
        $vis fn $name<T: $crate::Float $(, const $cg: usize)?>($($arg: $ty),*) $(-> $ret)? {
            #[cfg(test)]
            $crate::simd::tests::note(file!(), stringify!($name));

            #[inline(always)]
            #[allow(clippy::too_many_arguments)]
            fn body<T: $crate::Float, const FMA: bool $(, const $cg: usize)?>($($arg: $ty),*) $(-> $ret)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                #[allow(clippy::too_many_arguments)]
                fn avx2<T: $crate::Float $(, const $cg: usize)?>($($arg: $ty),*) $(-> $ret)? {
                    body::<T, true $(, $cg)?>($($arg),*)
                }
                if $crate::simd::wide() {
                    // SAFETY: `avx2` needs exactly the two features that `wide` has found.
                    return unsafe { avx2::<T $(, $cg)?>($($arg),*) };
                }
            }
            // On aarch64 the fused multiply-add belongs to the baseline.
            #[cfg(target_arch = "aarch64")]
            return body::<T, true $(, $cg)?>($($arg),*);
            #[cfg(not(target_arch = "aarch64"))]
            body::<T, false $(, $cg)?>($($arg),*)
        }
    };
}

/// Whether AVX2 and fused multiply-add are there (and no test wants to do without).
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn wide() -> bool {
    #[cfg(test)]
    if tests::BASELINE.get() {
        return false;
    }
    std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
}

#[cfg(test)]
pub(crate) mod tests;
