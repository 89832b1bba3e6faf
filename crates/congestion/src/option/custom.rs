//! Options of user-defined algorithms.

use super::{Block, EXPERIMENTAL_KINDS, OptionError, options};

/// An option of a user-defined algorithm: kind 253 with the author's ExID (RFC 6994), then up to 12
/// bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CustomOption {
    exid: [u8; 2],
    length: u8,
    body: [u8; Self::LONGEST],
}

impl CustomOption {
    /// Maximum length of a body, in bytes.
    pub const LONGEST: usize = 12;

    /// An option with this ExID and body; `None` if the body is longer than
    /// [`CustomOption::LONGEST`].
    pub fn new(exid: [u8; 2], body: &[u8]) -> Option<Self> {
        let mut kept = [0; Self::LONGEST];
        kept.get_mut(..body.len())?.copy_from_slice(body);
        Some(Self { exid, length: body.len() as u8, body: kept })
    }

    /// The author's ExID.
    pub const fn exid(&self) -> [u8; 2] {
        self.exid
    }

    /// The bytes after the ExID.
    pub fn body(&self) -> &[u8] {
        &self.body[..usize::from(self.length)]
    }

    /// The first option with this ExID in a TCP option block, which
    /// [`PeerOption::decode`](super::PeerOption::decode) skips because it does not know the ExID.
    pub fn find(exid: [u8; 2], block: &[u8]) -> Result<Option<Self>, OptionError> {
        for option in options(block) {
            let (kind, body) = option?;
            if kind == EXPERIMENTAL_KINDS[0]
                && let Some(body) = body.strip_prefix(&exid)
            {
                return Self::new(exid, body).map(Some).ok_or(OptionError::BadLength);
            }
        }
        Ok(None)
    }

    pub(super) const fn wire_length(self) -> u32 {
        (4 + self.length as u32).next_multiple_of(4)
    }

    pub(super) fn write(self, block: &mut Block) {
        block.put(EXPERIMENTAL_KINDS[0], &self.exid, self.body());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::option::PeerOption;

    #[test]
    fn a_body_of_any_length_is_found_again() {
        for length in 0..=CustomOption::LONGEST {
            let body: Vec<u8> = (1..=length as u8).collect();
            let option = CustomOption::new(*b"ME", &body).expect("short enough");
            let (bytes, used) = PeerOption::Custom(option).encode();
            assert_eq!(used as u32, PeerOption::Custom(option).wire_length());
            assert_eq!(CustomOption::find(*b"ME", &bytes[..used]), Ok(Some(option)));
            assert_eq!((option.exid(), option.body()), (*b"ME", &body[..]));
            assert_eq!(CustomOption::find(*b"YO", &bytes[..used]), Ok(None));
            assert_eq!(PeerOption::decode(&bytes[..used]), Ok(None));
        }
        assert_eq!(CustomOption::new(*b"ME", &[0; 13]), None);
        assert_eq!(CustomOption::find(*b"ME", &[253]), Err(OptionError::Truncated));
    }
}
