//! Packet records in files, written during the run, in bounded memory.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use parquet::arrow::ArrowWriter;
use selfclock_simulator::plan::Plan;
use selfclock_simulator::record::packets::{PacketEvent, Packets};
use selfclock_simulator::record::payload::Payloads;
use selfclock_simulator::record::pcapng::{Capture, Tap};

use crate::packets::Columns;
use crate::parquet_file::{Metadata, io_error, writer};

/// Maximum total of buffered capture bytes: a run may have more links than a process may have open
/// files, so each file is open only while it is written.
const BYTES_WAITING: usize = 1 << 25;
/// Bytes of one capture that are written at once.
const BYTES_TOGETHER: std::ops::RangeInclusive<usize> = 1 << 10..=1 << 16;

/// Writers of packet records.
pub struct PacketFiles {
    pub parquet: PathBuf,
    /// Key and value of the table's metadata.
    pub metadata: Metadata,
    /// A captured host or link, and its file.
    pub captures: Vec<(Tap, PathBuf)>,
}

/// Packet records being written to files.
pub struct PacketWriter<'a> {
    columns: Columns,
    parquet: ArrowWriter<File>,
    plan: &'a Plan,
    /// Of each link.
    links: Captures<'a>,
    /// Of each node.
    hosts: Captures<'a>,
    /// Payload of packets in flight, if the plan keeps it.
    payloads: Payloads,
}

type Captures<'a> = Vec<Option<Capture<'a, BufWriter<Appended>>>>;

impl<'a> PacketWriter<'a> {
    /// Creates the files.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create(plan: &'a Plan, files: &PacketFiles) -> io::Result<Self> {
        let columns = Columns::new(plan, None);
        let parquet = writer(&files.parquet, &columns.schema(), &files.metadata, false)?;
        let mut links: Captures<'_> = plan.links.iter().map(|_| None).collect();
        let mut hosts: Captures<'_> = plan.nodes.iter().map(|_| None).collect();
        let together = (BYTES_WAITING / files.captures.len().max(1))
            .clamp(*BYTES_TOGETHER.start(), *BYTES_TOGETHER.end());
        for (tap, path) in &files.captures {
            let out = BufWriter::with_capacity(together, Appended::create(path)?);
            let capture = Some(Capture::new(out, plan, *tap)?);
            match *tap {
                Tap::Link(link) => links[link] = capture,
                Tap::Host(host) => hosts[host] = capture,
            }
        }
        Ok(Self { columns, parquet, plan, links, hosts, payloads: Payloads::default() })
    }

    /// Adds records that continue the previous ones.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&mut self, mut packets: Packets) -> io::Result<()> {
        let has_captures = self.links.iter().chain(&self.hosts).any(Option::is_some);
        if has_captures {
            self.payloads.append(packets.take_payloads());
        }
        if packets.is_empty() {
            return Ok(());
        }
        let batch = self.columns.of(&packets).map_err(io::Error::other)?;
        self.parquet.write(&batch).map_err(io_error)?;
        if !has_captures {
            return Ok(());
        }
        for packet in &packets {
            if let Some(Some(capture)) = self.links.get_mut(packet.link as usize) {
                capture.add(&packet, &self.payloads)?;
            }
            if let Some(host) = Tap::host_of(self.plan, &packet)
                && let Some(capture) = &mut self.hosts[host]
            {
                capture.add(&packet, &self.payloads)?;
            }
            if matches!(packet.event, PacketEvent::Deliver | PacketEvent::Drop | PacketEvent::Lose) {
                self.payloads.forget(packet.packet);
            }
        }
        Ok(())
    }

    /// Renames the flows from now on.
    pub fn rename_flows<'b>(&mut self, names: impl Iterator<Item = &'b str>) {
        self.columns.rename_flows(names);
    }

    /// Closes the files. Returns the number of records.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn finish(self) -> io::Result<usize> {
        let metadata = self.parquet.close().map_err(io_error)?;
        self.links
            .into_iter()
            .chain(self.hosts)
            .flatten()
            .try_for_each(|capture| capture.into_inner().flush())?;
        Ok(metadata.file_metadata().num_rows() as usize)
    }
}

/// A file that is open only while it is written.
struct Appended {
    path: PathBuf,
}

impl Appended {
    fn create(path: &Path) -> io::Result<Self> {
        File::create(path)?;
        Ok(Self { path: path.to_owned() })
    }
}

impl Write for Appended {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        OpenOptions::new().append(true).open(&self.path)?.write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
