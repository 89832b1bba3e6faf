//! Records events and decisions of an algorithm in the kernel, in the format of [`crate::log`].

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::super::ring::Ring;
use super::super::sys::{Guard, exact_naps, kernel_release, new_file};
use super::Resident;
use crate::bridge::Answer;
use crate::event::{KernelEvent, kind};
use crate::log::{Entry, Writer};

/// Bytes of `struct native_record`: an event, and `struct decision`.
const RECORD: usize = KernelEvent::SIZE + 24;
/// Time between two polls of the ring, which holds some 20,000 records.
const NAP: Duration = Duration::from_micros(500);

/// Counts of a recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Events that were written.
    pub events: u64,
    /// Connections whose events were written.
    pub flows: u64,
    /// Earlier connections, which are skipped because their state is unknown.
    pub earlier: u64,
    /// Connections recorded only up to their first lost event.
    pub cut: u64,
    /// Events lost because the ring was full.
    pub lost: u64,
    /// Events skipped: those of earlier connections, or after a lost event.
    pub passed_over: u64,
    /// Why recording stopped.
    pub error: Option<String>,
    /// The algorithm was unloaded meanwhile, and its last connection has closed.
    pub gone: bool,
}

/// A recording.
#[derive(Debug)]
pub struct Recorder {
    resident: Resident,
    ring: Ring,
    writer: Mutex<Option<Writer<BufWriter<File>>>>,
    stop: AtomicBool,
    /// Until the recording has ended, which happens once: the process's next recording has the same
    /// owner, and a second end would be its end.
    guard: Mutex<Option<Guard>>,
    recorded: Mutex<Recorded>,
}

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How far the events of a connection have been written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// Up to this number.
    Written(u64),
    /// Its beginning or an event is missing.
    PassedOver,
}

/// The connections being recorded.
#[derive(Debug, Default)]
struct Flows(BTreeMap<u64, Progress>);

impl Flows {
    /// Whether an event is to be written: only while its connection has no gap.
    fn takes(&mut self, event: &KernelEvent, recorded: &mut Recorded) -> bool {
        let before = self.0.get(&event.id).copied();
        let progress = match before {
            None if event.kind == kind::INIT && event.number == 1 => {
                recorded.flows += 1;
                Progress::Written(1)
            }
            Some(Progress::Written(last)) if event.number == last + 1 => Progress::Written(event.number),
            None => {
                recorded.earlier += 1;
                Progress::PassedOver
            }
            Some(Progress::Written(_)) => {
                recorded.cut += 1;
                Progress::PassedOver
            }
            Some(Progress::PassedOver) => Progress::PassedOver,
        };
        if event.kind == kind::RELEASE {
            self.0.remove(&event.id);
        } else {
            self.0.insert(event.id, progress);
        }
        progress != Progress::PassedOver
    }
}

/// A record as the kernel part writes it.
fn entry(bytes: &[u8; RECORD]) -> Entry {
    let (event, rest) = bytes.split_at(KernelEvent::SIZE);
    let mut event_bytes = [0; KernelEvent::SIZE];
    event_bytes.copy_from_slice(event);
    let event = KernelEvent::from_bytes(&event_bytes);
    let number = |at: usize| u32::from_le_bytes(std::array::from_fn(|index| rest[at + index]));
    let answer = Answer {
        cwnd: number(0),
        ssthresh: number(4),
        pacing: u64::from(number(8)) | u64::from(number(12)) << 32,
        flags: number(16),
        slope: number(20),
    };
    Entry { event, answer: (event.kind != kind::RELEASE).then_some(answer) }
}

impl Recorder {
    /// Starts recording connections of an algorithm that begin from now on.
    pub fn start(resident: Resident, path: &Path) -> io::Result<Self> {
        if let Some(process) = resident.control.recorder() {
            return Err(io::Error::other(format!("process {process} records it already")));
        }
        let ring = Ring::new(resident.records.try_clone()?)?;
        let about = format!("{} in the kernel, Linux {}", resident.name, kernel_release());
        let file = BufWriter::with_capacity(1 << 18, new_file(path)?);
        let writer = Mutex::new(Some(Writer::with_head(file, &resident.about.head(), &about)?));
        // Left by a recorder that was killed.
        ring.skip();
        let guard = Mutex::new(Some(resident.control.record()?));
        let stop = AtomicBool::new(false);
        Ok(Self { resident, ring, writer, stop, guard, recorded: Mutex::default() })
    }

    /// Records in this thread, until [`Self::stop`] or until the algorithm is gone.
    pub fn run(&self) {
        exact_naps();
        let mut flows = Flows::default();
        let mut writer = locked(&self.writer).take();
        let lost = self.resident.control.totals().lost_records;
        while !self.stop.load(Ordering::Acquire) {
            self.resident.control.beat();
            if !self.resident.control.is_recorder() {
                let taken = "another recorder has taken over, as this one had stopped";
                locked(&self.recorded).error = Some(taken.to_owned());
                break;
            }
            if self.drain(&mut flows, &mut writer, lost) == 0 {
                if self.is_gone() {
                    locked(&self.recorded).gone = true;
                    break;
                }
                std::thread::sleep(NAP);
            }
        }
        self.end();
        // An event whose write was under way when recording ended reaches the ring a moment later.
        std::thread::sleep(Duration::from_millis(10));
        while self.drain(&mut flows, &mut writer, lost) > 0 {}
        if let Some(writer) = writer
            && let Err(error) = writer.finish()
        {
            locked(&self.recorded).error = Some(error.to_string());
        }
    }

    fn end(&self) {
        if let Some(guard) = locked(&self.guard).take() {
            self.resident.control.end();
            drop(guard);
        }
    }

    fn is_gone(&self) -> bool {
        self.resident.control.totals().live() == 0 && !self.resident.is_registered()
    }

    fn drain(&self, flows: &mut Flows, writer: &mut Option<Writer<BufWriter<File>>>, lost: u64) -> usize {
        let mut recorded = locked(&self.recorded);
        let events = self.ring.drain_records::<RECORD>(4096, |bytes| {
            let entry = entry(bytes);
            if !flows.takes(&entry.event, &mut recorded) {
                recorded.passed_over += 1;
                return;
            }
            let Some(writing) = writer else { return };
            match writing.write(&entry) {
                Ok(()) => recorded.events += 1,
                Err(error) => {
                    recorded.error = Some(error.to_string());
                    *writer = None;
                }
            }
        });
        recorded.lost = self.resident.control.totals().lost_records.saturating_sub(lost);
        events
    }

    /// Counts of the recording so far.
    pub fn status(&self) -> Recorded {
        locked(&self.recorded).clone()
    }

    /// Lets [`Self::run`] return.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: u64, number: u64, kind: u8) -> KernelEvent {
        KernelEvent { id, number, kind, ..KernelEvent::default() }
    }

    /// Connections are written from their first event to the first missing one, and earlier
    /// connections not at all.
    #[test]
    fn connections_are_written_without_gaps() {
        let (mut flows, mut recorded) = (Flows::default(), Recorded::default());
        let events = [
            (event(1, 1, kind::INIT), true),
            (event(2, 40, kind::ACK), false),
            (event(1, 2, kind::ACK), true),
            (event(2, 41, kind::ACK), false),
            (event(3, 1, kind::INIT), true),
            (event(1, 4, kind::ACK), false),
            (event(1, 5, kind::ACK), false),
            (event(3, 2, kind::RELEASE), true),
            // The state of an ended connection is dropped.
            (event(3, 1, kind::INIT), true),
        ];
        for (event, wanted) in events {
            assert_eq!(flows.takes(&event, &mut recorded), wanted, "{event:?}");
        }
        assert_eq!((recorded.flows, recorded.earlier, recorded.cut), (3, 1, 1));
    }

    /// Fields match the C layout, and the end of a connection has no answer.
    #[test]
    fn a_record_of_the_ring() {
        let mut bytes = [0; RECORD];
        bytes[0] = 9;
        bytes[176] = kind::ACK;
        bytes[192..200].copy_from_slice(&(7_u64 << 32 | 1).to_le_bytes());
        for (place, number) in [(184, 2_u32), (188, 3), (200, 4), (204, 5)] {
            bytes[place..place + 4].copy_from_slice(&number.to_le_bytes());
        }
        let Entry { event, answer } = entry(&bytes);
        assert_eq!((event.id, event.kind), (9, kind::ACK));
        let wanted = Answer { pacing: 7 << 32 | 1, cwnd: 2, ssthresh: 3, flags: 4, slope: 5 };
        assert_eq!(answer, Some(wanted));
        bytes[176] = kind::RELEASE;
        assert_eq!(entry(&bytes).answer, None);
    }
}
