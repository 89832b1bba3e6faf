//! The edge of a network at a device: reports passing packets, and limits the windows in ACKs on
//! request.

use std::collections::BTreeMap;
use std::io;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::bpf::MapFd;
use super::device::{Attached, EDGE, attach};
use super::load::{LoadError, failed};
use super::ring::Ring;
use super::sys;

/// A flow, from source to receiver, in the kernel part's byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key([u8; 12]);

impl Key {
    /// Address and port of the source, and of the receiver.
    pub fn ends(&self) -> ((Ipv4Addr, u16), (Ipv4Addr, u16)) {
        let address = |at: usize| Ipv4Addr::from(std::array::from_fn::<u8, 4, _>(|index| self.0[at + index]));
        let port = |at: usize| u16::from_ne_bytes([self.0[at], self.0[at + 1]]);
        ((address(0), port(8)), (address(4), port(10)))
    }
}

/// Kind of a passing packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Data from a source.
    Data,
    /// An ACK for a source.
    Ack,
    /// The last segment of a source.
    End,
}

/// A passing packet: `struct passage` of `bpf/edge.bpf.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Time, in nanoseconds of `CLOCK_MONOTONIC`.
    pub now: u64,
    /// Its flow.
    pub key: Key,
    /// Of data, its first sequence number; of an ACK, the number it acknowledges.
    pub sequence: u32,
    /// Bytes of payload.
    pub payload: u32,
    /// Bytes on the wire.
    pub size: u32,
    /// Of an ACK, the window that the receiver offers, bytes.
    pub offered: u32,
    /// Of an ACK, the window that is forwarded, bytes.
    pub window: u32,
    /// Kind of the report.
    pub what: What,
    /// Segments that the packet will be split into.
    pub segments: u32,
}

impl Passage {
    /// Bytes in the ring.
    pub const SIZE: usize = 48;

    /// Reads a packet from the ring; `None` if its kind is unknown.
    pub fn from_bytes(bytes: &[u8; Self::SIZE]) -> Option<Self> {
        let word = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        Some(Self {
            now: u64::from(word(0)) | u64::from(word(4)) << 32,
            key: Key(std::array::from_fn(|index| bytes[8 + index])),
            sequence: word(20),
            payload: word(24),
            size: word(28),
            offered: word(32),
            window: word(36),
            what: match word(40) {
                0 => What::Data,
                1 => What::Ack,
                2 => What::End,
                _ => return None,
            },
            segments: word(44),
        })
    }
}

/// Programs at a device, and the ring of passing packets. Dropping it removes them.
#[derive(Debug)]
pub struct Edge {
    ring: Ring,
    limits: MapFd,
    _attached: Attached,
}

/// Time between two polls of the ring.
const NAP: Duration = Duration::from_micros(500);

impl Edge {
    /// Attaches the programs to the device that faces the sources.
    pub fn start(device: &str) -> Result<Self, LoadError> {
        let mut attached = attach(EDGE, &[], device)?;
        let mut take = |name: &str| {
            let at = attached.maps.iter().position(|map| map.name == name).ok_or(LoadError::BadObject)?;
            Ok(attached.maps.swap_remove(at).fd)
        };
        let (passages, limits) = (take("passages")?, take("limits")?);
        let ring = Ring::new(passages).map_err(failed("map the ring"))?;
        Ok(Self { ring, limits, _attached: attached })
    }

    /// Processes passing packets in this thread, until `stop`. `decide` returns the maximum window
    /// advertised to a flow's source from now on, if it has changed.
    pub fn run(&self, stop: &AtomicBool, mut decide: impl FnMut(&Passage) -> Option<u64>) -> io::Result<()> {
        sys::exact_naps();
        let (mut limits, mut silent) = (BTreeMap::new(), Silent::default());
        while !stop.load(Ordering::Acquire) {
            let passed = self.ring.drain_records::<{ Passage::SIZE }>(4096, |bytes| {
                let Some(passage) = Passage::from_bytes(bytes) else { return };
                silent.hears(&passage);
                let window = decide(&passage);
                if passage.what == What::End {
                    // The next connection between these ports begins without a limit.
                    limits.insert(passage.key, None);
                } else if window.is_some() {
                    limits.insert(passage.key, window);
                }
            });
            for end in silent.ends(sys::now()) {
                decide(&end);
                limits.insert(end.key, None);
            }
            while let Some((Key(key), window)) = limits.pop_first() {
                match window {
                    Some(window) => self.limits.update(&key, &window.to_ne_bytes())?,
                    // Most flows end without ever being limited.
                    None => drop(self.limits.delete(&key)),
                }
            }
            if passed == 0 {
                std::thread::sleep(NAP);
            }
        }
        Ok(())
    }
}

/// Flows whose end was not seen: a source that vanished sends none, and its ports return.
#[derive(Debug, Default)]
struct Silent {
    last: BTreeMap<Key, Passage>,
    checked: u64,
}

impl Silent {
    /// Twice the maximum segment lifetime (RFC 9293), after which the ports may return, ns. A
    /// connection that is only idle gets its limit again with its next data.
    const SILENCE: u64 = 240_000_000_000;
    /// Time between two checks, ns.
    const EVERY: u64 = 1_000_000_000;

    fn hears(&mut self, passage: &Passage) {
        if passage.what == What::End {
            self.last.remove(&passage.key);
        } else {
            self.last.insert(passage.key, *passage);
        }
    }

    /// The ends of those that have been silent for too long.
    fn ends(&mut self, now: u64) -> Vec<Passage> {
        if now.saturating_sub(self.checked) < Self::EVERY {
            return Vec::new();
        }
        self.checked = now;
        let mut ended = Vec::new();
        self.last.retain(|_, last| {
            let is_over = now.saturating_sub(last.now) > Self::SILENCE;
            if is_over {
                ended.push(Passage { now, what: What::End, ..*last });
            }
            !is_over
        });
        ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flow ends with its FIN or RST; one that sends none ends after twice the maximum segment
    /// lifetime (RFC 9293, 3.4.2), when its ports may belong to another connection.
    #[test]
    fn silent_flows_end() {
        let passage = |port: u8, now, what| Passage {
            now,
            key: Key([10, 0, 0, 1, 10, 0, 0, 2, 0, port, 0, 80]),
            sequence: 1,
            payload: 1448,
            size: 1500,
            offered: 0,
            window: 0,
            what,
            segments: 1,
        };
        let mut silent = Silent::default();
        silent.hears(&passage(1, 0, What::Data));
        silent.hears(&passage(2, 0, What::Data));
        silent.hears(&passage(2, 1_000, What::End));
        silent.hears(&passage(3, 200_000_000_000, What::Data));
        assert_eq!(silent.ends(239_000_000_000), []);
        let ended = silent.ends(241_000_000_000);
        assert_eq!(ended, [passage(1, 241_000_000_000, What::End)]);
        assert_eq!(silent.ends(300_000_000_000), []);
        assert_eq!(silent.ends(441_000_000_000).len(), 1);
    }

    #[test]
    fn a_packet_of_the_ring() {
        let mut bytes = [0; Passage::SIZE];
        bytes[0] = 9;
        bytes[8..16].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
        bytes[16..18].copy_from_slice(&4000_u16.to_ne_bytes());
        bytes[18..20].copy_from_slice(&80_u16.to_ne_bytes());
        bytes[36..40].copy_from_slice(&30_000_u32.to_ne_bytes());
        bytes[40] = 1;
        let passage = Passage::from_bytes(&bytes).expect("an ACK");
        assert_eq!((passage.now, passage.what, passage.window), (9, What::Ack, 30_000));
        let ends = (([10, 0, 0, 1].into(), 4000), ([10, 0, 0, 2].into(), 80));
        assert_eq!(passage.key.ends(), ends);
        bytes[40] = 3;
        assert_eq!(Passage::from_bytes(&bytes), None);
    }
}
