//! XCP's congestion header as an option.

use super::{Block, EXPERIMENTAL_KINDS, OptionError};

/// Experiment identifier of XCP's header as a TCP option (kind 253), our choice, not registered:
/// "XC". Katabi's header is between IP and TCP; its fields are the same.
pub const XCP_EXID: [u8; 2] = *b"XC";

/// XCP's congestion header. Feedback counts in sixteenths of a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum XcpOption {
    /// On data: the sender's window and demand. Routers lower the feedback.
    Request {
        /// "H_cwnd": its window, bytes.
        window: u32,
        /// "H_rtt": its round-trip time, microseconds; 0 before the first sample.
        rtt_us: u32,
        /// "H_feedback": change of the window.
        feedback: i32,
    },
    /// On ACKs: what the routers left of the demand.
    Reply {
        /// Change of the window.
        feedback: i32,
    },
}

impl XcpOption {
    /// Feedback in bytes.
    pub fn bytes(feedback: i32) -> f64 {
        f64::from(feedback) / 16.0
    }

    /// The nearest representable feedback to this many bytes.
    pub fn feedback(bytes: f64) -> i32 {
        (bytes * 16.0) as i32
    }

    pub(super) const fn wire_length(self) -> u32 {
        match self {
            Self::Request { .. } => 16,
            Self::Reply { .. } => 8,
        }
    }

    pub(super) fn write(self, block: &mut Block) {
        match self {
            Self::Request { window, rtt_us, feedback } => {
                let mut body = [0; 12];
                body[..4].copy_from_slice(&window.to_be_bytes());
                body[4..8].copy_from_slice(&rtt_us.to_be_bytes());
                body[8..].copy_from_slice(&feedback.to_be_bytes());
                block.put(EXPERIMENTAL_KINDS[0], &XCP_EXID, &body);
            }
            Self::Reply { feedback } => {
                block.put(EXPERIMENTAL_KINDS[0], &XCP_EXID, &feedback.to_be_bytes());
            }
        }
    }

    /// `body` follows the ExID.
    pub(super) fn read(body: &[u8]) -> Result<Self, OptionError> {
        match *body {
            [a, b, c, d] => Ok(Self::Reply { feedback: i32::from_be_bytes([a, b, c, d]) }),
            [a, b, c, d, e, f, g, h, i, j, k, l] => Ok(Self::Request {
                window: u32::from_be_bytes([a, b, c, d]),
                rtt_us: u32::from_be_bytes([e, f, g, h]),
                feedback: i32::from_be_bytes([i, j, k, l]),
            }),
            _ => Err(OptionError::BadLength),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::option::PeerOption;

    /// The congestion header of the paper: H_cwnd, H_rtt, H_feedback, 32 bits each; only the
    /// feedback returns.
    #[test]
    fn bytes_of_xcp() {
        let encoded = |option| {
            let (bytes, length) = PeerOption::Xcp(option).encode();
            bytes[..length].to_vec()
        };
        let request = XcpOption::Request { window: 0x0102_0304, rtt_us: 0x0506_0708, feedback: -2 };
        assert_eq!(encoded(request), [253, 16, b'X', b'C', 1, 2, 3, 4, 5, 6, 7, 8, 255, 255, 255, 254]);
        assert_eq!(encoded(XcpOption::Reply { feedback: 258 }), [253, 8, b'X', b'C', 0, 0, 1, 2]);
        assert_eq!(XcpOption::bytes(40), 2.5);
        assert_eq!([2.5, -2.5, 1e12, f64::NAN].map(XcpOption::feedback), [40, -40, i32::MAX, 0]);
    }
}
