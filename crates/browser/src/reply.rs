//! Replies: JSON, and the arrays of numbers that it refers to, side by side in one buffer.

use serde_json::{Value, json};

/// The reply to a request.
#[derive(Clone, Debug, Default)]
pub struct Reply {
    /// JSON text. An array is written as `{"array": "f64", "at": 0, "length": 3}`: type, first
    /// byte, values.
    pub json: String,
    /// The arrays.
    pub arrays: Arrays,
}

/// Arrays of numbers, little-endian, each at a multiple of eight bytes.
#[derive(Clone, Debug, Default)]
pub struct Arrays(Vec<u8>);

impl Arrays {
    /// All of them.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Adds an array of real numbers; returns its JSON placeholder.
    pub fn reals(&mut self, values: impl ExactSizeIterator<Item = f64>) -> Value {
        self.put("f64", values, f64::to_le_bytes)
    }

    /// Adds an array of 32-bit numbers.
    pub fn counts(&mut self, values: impl ExactSizeIterator<Item = u32>) -> Value {
        self.put("u32", values, u32::to_le_bytes)
    }

    /// Adds an array of 8-bit numbers.
    pub fn octets(&mut self, values: impl ExactSizeIterator<Item = u8>) -> Value {
        self.put("u8", values, u8::to_le_bytes)
    }

    fn put<T, const N: usize>(
        &mut self,
        kind: &str,
        values: impl ExactSizeIterator<Item = T>,
        bytes: impl Fn(T) -> [u8; N],
    ) -> Value {
        let (at, length) = (self.0.len(), values.len());
        self.0.reserve(length * N + 8);
        values.for_each(|value| self.0.extend_from_slice(&bytes(value)));
        self.0.resize(self.0.len().next_multiple_of(8), 0);
        json!({ "array": kind, "at": at, "length": length })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_array_stands_at_a_multiple_of_eight() {
        let mut arrays = Arrays::default();
        let octets = arrays.octets([1, 2, 3].into_iter());
        let counts = arrays.counts([7].into_iter());
        let reals = arrays.reals([0.5].into_iter());
        assert_eq!(octets, json!({ "array": "u8", "at": 0, "length": 3 }));
        assert_eq!(counts, json!({ "array": "u32", "at": 8, "length": 1 }));
        assert_eq!(reals, json!({ "array": "f64", "at": 16, "length": 1 }));
        assert_eq!(arrays.bytes()[..12], [1, 2, 3, 0, 0, 0, 0, 0, 7, 0, 0, 0]);
        assert_eq!(arrays.bytes()[16..], 0.5_f64.to_le_bytes());
    }
}
