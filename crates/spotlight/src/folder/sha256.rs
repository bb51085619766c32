//! SHA-256 (FIPS 180-4), the checksum of a model's files.
//!
//! Written out because it is short and the only hash that is needed; a file is read in pieces, so that its size does not matter.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
#[rustfmt::skip]
const K: [u32; 64] = [
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
];

/// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
const START: [u32; 8] = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];

/// A checksum under way.
struct Sha256 {
    state: [u32; 8],
    /// Bytes that do not fill a block yet.
    rest: Vec<u8>,
    bytes: u64,
}

impl Sha256 {
    fn new() -> Self {
        Sha256 { state: START, rest: Vec::new(), bytes: 0 }
    }

    fn update(&mut self, mut data: &[u8]) {
        self.bytes += data.len() as u64;
        if !self.rest.is_empty() {
            let (fill, after) = data.split_at((64 - self.rest.len()).min(data.len()));
            self.rest.extend_from_slice(fill);
            data = after;
            if let Ok(block) = <[u8; 64]>::try_from(self.rest.as_slice()) {
                self.block(&block);
                self.rest.clear();
            }
        }
        let (blocks, rest) = data.as_chunks::<64>();
        blocks.iter().for_each(|block| self.block(block));
        self.rest.extend_from_slice(rest);
    }

    /// The message is closed by a bit, zeros, and its length in bits.
    fn finish(mut self) -> String {
        let bits = self.bytes.wrapping_mul(8);
        let zeros = (55 - self.rest.len() as isize).rem_euclid(64) as usize;
        let close: Vec<u8> = [0x80].into_iter().chain(std::iter::repeat_n(0, zeros)).chain(bits.to_be_bytes()).collect();
        self.update(&close);
        self.state.iter().map(|word| format!("{word:08x}")).collect()
    }

    fn block(&mut self, block: &[u8; 64]) {
        let mut w = [0u32; 64];
        for (w, &bytes) in w.iter_mut().zip(block.as_chunks::<4>().0) {
            *w = u32::from_be_bytes(bytes);
        }
        for t in 16..64 {
            let (x, y) = (w[t - 15], w[t - 2]);
            let first = x.rotate_right(7) ^ x.rotate_right(18) ^ (x >> 3);
            let second = y.rotate_right(17) ^ y.rotate_right(19) ^ (y >> 10);
            w[t] = w[t - 16].wrapping_add(first).wrapping_add(w[t - 7]).wrapping_add(second);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = self.state;
        for (w, k) in w.iter().zip(K) {
            let choice = (e & f) ^ (!e & g);
            let majority = (a & b) ^ (a & c) ^ (b & c);
            let first = h
                .wrapping_add(e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25))
                .wrapping_add(choice)
                .wrapping_add(k)
                .wrapping_add(*w);
            let second = (a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22)).wrapping_add(majority);
            (h, g, f, e, d, c, b, a) = (g, f, e, d.wrapping_add(first), c, b, a, first.wrapping_add(second));
        }
        for (state, new) in self.state.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *state = state.wrapping_add(new);
        }
    }
}

/// The checksum of bytes, as 64 hexadecimal digits.
pub(super) fn of_bytes(data: &[u8]) -> String {
    let mut hash = Sha256::new();
    hash.update(data);
    hash.finish()
}

/// The checksum of a file, and its size.
pub(super) fn of_file(path: &Path) -> std::io::Result<(String, u64)> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut piece = vec![0; 1 << 16];
    loop {
        match file.read(&mut piece)? {
            0 => {
                let size = hash.bytes;
                return Ok((hash.finish(), size));
            }
            read => hash.update(&piece[..read]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of FIPS 180-4 and of NIST's collection.
    #[test]
    fn known_messages_have_known_checksums() {
        for (message, checksum) in [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
            ),
            (&"a".repeat(1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
        ] {
            assert_eq!(of_bytes(message.as_bytes()), checksum, "{} bytes", message.len());
        }
    }

    /// Every length around the ends of blocks, cut in two at every place.
    #[test]
    fn pieces_make_the_same_checksum_as_the_whole() {
        let message: Vec<u8> = (0..200u8).collect();
        for length in [55, 56, 63, 64, 65, 119, 120, 128, 200] {
            for cut in 0..=length {
                let mut hash = Sha256::new();
                hash.update(&message[..cut]);
                hash.update(&message[cut..length]);
                assert_eq!(hash.finish(), of_bytes(&message[..length]), "{length} cut at {cut}");
            }
        }
    }

    #[test]
    fn a_file_has_the_checksum_of_its_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let data: Vec<u8> = (0..150_000u32).map(|i| (i * 7) as u8).collect();
        std::fs::write(&path, &data).unwrap();
        assert_eq!(of_file(&path).unwrap(), (of_bytes(&data), 150_000));
    }
}
