//! Real packets in pcapng captures: the beginning of each, with all headers.

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapError};
use selfclock_congestion::units::Time;
use selfclock_simulator::plan::Plan;
use std::borrow::Cow;
use std::io::{self, Write};
use std::time::Duration;

/// Bytes stored of each packet: the longest headers of IPv6 without extensions and TCP, and some
/// payload.
pub const KEPT: usize = 160;

/// `if_tsresol`: timestamps count units of 10^-9 s.
const NANOSECONDS: u8 = 9;
/// `epb_flags`: a packet came in, or went out.
const INBOUND: u32 = 0b01;
const OUTBOUND: u32 = 0b10;

/// A packet at the device of a host.
#[derive(Clone, Copy, Debug)]
struct Frame {
    host: usize,
    outbound: bool,
    time: Time,
    length: u32,
    kept: usize,
}

/// Packets at the devices of hosts, in the order of time.
#[derive(Clone, Debug, Default)]
pub struct Captured {
    frames: Vec<Frame>,
    bytes: Vec<u8>,
}

impl Captured {
    /// A host sends (`outbound`) or receives a packet.
    pub fn add(&mut self, host: usize, outbound: bool, time: Time, packet: &[u8]) {
        let kept = packet.len().min(KEPT);
        self.frames.push(Frame { host, outbound, time, length: packet.len() as u32, kept });
        self.bytes.extend_from_slice(&packet[..kept]);
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }
}

/// The capture of one host.
pub struct Capture<W: Write> {
    file: PcapNgWriter<W>,
    host: usize,
}

impl<W: Write> Capture<W> {
    /// Begins the capture of the host with this index and name. Times in it are since the beginning
    /// of the emulation.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(out: W, plan: &Plan, host: usize, name: &str) -> io::Result<Self> {
        let about = format!("scenario {:?}, seed {}, emulated", plan.name, plan.seed);
        let section = SectionHeaderBlock {
            endianness: Endianness::Little,
            options: vec![
                SectionHeaderOption::Comment(about.into()),
                SectionHeaderOption::UserApplication(concat!("selfclock ", env!("CARGO_PKG_VERSION")).into()),
            ],
            ..Default::default()
        };
        let mut file = PcapNgWriter::with_section_header(out, section).map_err(io_error)?;
        file.write_pcapng_block(InterfaceDescriptionBlock {
            linktype: DataLink::RAW,
            snaplen: KEPT as u32,
            options: vec![
                InterfaceDescriptionOption::IfName(name.to_owned().into()),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ],
        })
        .map_err(io_error)?;
        Ok(Self { file, host })
    }

    /// Adds the packets of this host.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn add(&mut self, captured: &Captured) -> io::Result<()> {
        let mut rest = &captured.bytes[..];
        for frame in &captured.frames {
            let (bytes, after) = rest.split_at(frame.kept);
            rest = after;
            if frame.host != self.host {
                continue;
            }
            let flags = if frame.outbound { OUTBOUND } else { INBOUND };
            self.file
                .write_pcapng_block(EnhancedPacketBlock {
                    interface_id: 0,
                    timestamp: Duration::from_nanos(frame.time.picoseconds() / 1_000),
                    original_len: frame.length,
                    data: Cow::Borrowed(bytes),
                    options: vec![EnhancedPacketOption::Flags(flags)],
                })
                .map_err(io_error)?;
        }
        Ok(())
    }

    /// Ends the capture.
    pub fn into_inner(self) -> W {
        self.file.into_inner()
    }
}

fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}
