//! The options of Quick-Start, RFC 4782.

use super::{Block, OptionError};

/// IPv4 option of a Quick-Start Request and of a Report of Approved Rate (RFC 4782, section 3.1).
pub const QUICK_START_IP_OPTION: u8 = 25;
/// TCP option of a Quick-Start Response (RFC 4782, section 4.2).
pub const QUICK_START_RESPONSE_KIND: u8 = 27;

/// Quick-Start's options on a segment. Rates are 4-bit codes: 0 is zero, N is 40000·2^N bit/s.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuickStartOption {
    /// In the IP header: the sender requests a rate, which routers may reduce.
    Request {
        /// Requested rate.
        rate: u8,
        /// "QS TTL", which approving routers decrement in step with the IP TTL.
        ttl: u8,
        /// "QS Nonce", 30 bits: a router that reduces the rate from K to N overwrites the bits of
        /// the steps between.
        nonce: u32,
    },
    /// In the TCP header: the request as received.
    Response {
        /// Rate that was approved.
        rate: u8,
        /// "TTL Diff": TTL of the IP header less the QS TTL, modulo 256.
        ttl_difference: u8,
        /// The nonce as it arrived.
        nonce: u32,
    },
    /// In the IP header: the rate in use, for the routers.
    Report {
        /// Rate; 0 if the approval is not used.
        rate: u8,
        /// The nonce of the request.
        nonce: u32,
    },
}

impl QuickStartOption {
    /// Whether it belongs in the IP header instead of the TCP header.
    pub const fn is_in_ip_header(self) -> bool {
        !matches!(self, Self::Response { .. })
    }

    pub(super) fn write(self, block: &mut Block) {
        let (kind, third, fourth, nonce) = match self {
            Self::Request { rate, ttl, nonce } => (QUICK_START_IP_OPTION, rate & 15, ttl, nonce),
            Self::Report { rate, nonce } => (QUICK_START_IP_OPTION, 0x80 | rate & 15, 0, nonce),
            Self::Response { rate, ttl_difference, nonce } => {
                (QUICK_START_RESPONSE_KIND, rate & 15, ttl_difference, nonce)
            }
        };
        // "Bytes 5-8 contain a 30-bit QS Nonce and a 2-bit Reserved field".
        let [a, b, c, d] = (nonce << 2).to_be_bytes();
        block.put(kind, &[], &[third, fourth, a, b, c, d]);
    }

    /// `body` follows the length.
    pub(super) fn read(kind: u8, body: &[u8]) -> Result<Self, OptionError> {
        let &[third, fourth, a, b, c, d] = body else { return Err(OptionError::BadLength) };
        let (rate, nonce) = (third & 15, u32::from_be_bytes([a, b, c, d]) >> 2);
        match (kind, third >> 4) {
            (QUICK_START_RESPONSE_KIND, _) => Ok(Self::Response { rate, ttl_difference: fourth, nonce }),
            (_, 0) => Ok(Self::Request { rate, ttl: fourth, nonce }),
            (_, 8) => Ok(Self::Report { rate, nonce }),
            _ => Err(OptionError::UnknownType),
        }
    }
}

/// Bits of a Quick-Start nonce.
pub const QUICK_START_NONCE_BITS: u32 = 30;
/// Largest code of a Quick-Start rate: 1.31 Gbit/s.
pub const QUICK_START_LARGEST_RATE: u8 = 15;

/// Bits per second of a Quick-Start rate: "K*2^N" with K = 40000 (RFC 4782, section 3.1).
pub const fn quick_start_rate(code: u8) -> u64 {
    if code == 0 { 0 } else { 40_000 << (if code > 15 { 15 } else { code }) }
}

/// The nonce bits that must survive if this rate was approved: "the last 2K bits", two for each
/// step from K down to zero.
pub const fn quick_start_nonce_mask(code: u8) -> u32 {
    (1 << (2 * if code > 15 { 15 } else { code })) - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::option::PeerOption;

    /// RFC 4782, figures 1 to 3: function and rate share the third byte, the nonce fills the upper
    /// 30 bits.
    #[test]
    fn bytes_of_quick_start() {
        let encoded = |option| {
            let (bytes, length) = PeerOption::QuickStart(option).encode();
            bytes[..length].to_vec()
        };
        let request = QuickStartOption::Request { rate: 11, ttl: 77, nonce: 0x3fff_ffff };
        assert_eq!(encoded(request), [25, 8, 11, 77, 255, 255, 255, 0xfc]);
        let report = QuickStartOption::Report { rate: 11, nonce: 1 };
        assert_eq!(encoded(report), [25, 8, 0x8b, 0, 0, 0, 0, 4]);
        let response = QuickStartOption::Response { rate: 11, ttl_difference: 200, nonce: 1 };
        assert_eq!(encoded(response), [27, 8, 11, 200, 0, 0, 0, 4]);
    }

    #[test]
    fn rates_of_quick_start() {
        assert_eq!(quick_start_rate(0), 0);
        assert_eq!(quick_start_rate(1), 80_000);
        assert_eq!(quick_start_rate(15), 1_310_720_000);
        assert_eq!(quick_start_nonce_mask(0), 0);
        assert_eq!(quick_start_nonce_mask(1), 3);
        assert_eq!(quick_start_nonce_mask(15), 0x3fff_ffff);
    }
}
