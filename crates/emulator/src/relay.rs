//! An emulation driven by the monotonic clock and by TUN devices: one thread, which polls for
//! packets while awake, and sleeps until shortly before the next event.

use crate::capture::Captured;
use crate::clock::Clock;
use crate::emulation::{Delivery, Emulation};
use crate::error::EmulationError;
use crate::report::Outcome;
use crate::system::{LockedMemory, Readable, become_realtime, never_wait, wake_exactly};
use selfclock_congestion::units::{Duration, Time};
use selfclock_simulator::record::packets::Packets;
use serde::Serialize;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration as StdDuration;

/// Largest packet of IP.
const LARGEST: usize = 65_535;
/// Maximum number of packets read from one device in a row.
const BURST: usize = 32;
/// Interval at which records are handed on and the stop request is checked.
const HANDED_ON: Duration = Duration::from_milliseconds(10);
/// Interval of status updates.
const RENEWED: Duration = Duration::from_milliseconds(100);

/// Settings of the relay.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Ask for SCHED_FIFO and locked memory.
    pub realtime: bool,
    /// Polling time before an event is due; it sleeps before that.
    pub spin: Duration,
    /// Capture the packets of these hosts.
    pub captured: Vec<bool>,
}

/// Reports during an emulation, in order.
pub enum Taken {
    /// Slots of connections in subsequent records, with their names.
    Names(Vec<(usize, String)>),
    /// Packet events.
    Packets(Packets),
    /// Captured packets.
    Captured(Captured),
    /// Progress of an emulation.
    Status(Status),
}

/// Progress of an emulation.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Status {
    /// Time since it began.
    pub time_s: f64,
    /// Packets received from hosts.
    pub packets: u64,
    /// Connections seen.
    pub flows: usize,
    /// One for each link.
    pub links: Vec<LinkStatus>,
    /// Lateness of departures.
    pub lateness: LatenessStatus,
}

/// Activity at a link.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LinkStatus {
    /// Its name.
    pub name: String,
    /// Bytes sent since the last status.
    pub rate_bps: f64,
    /// Packets waiting.
    pub queue_packets: u64,
    /// The same, bytes.
    pub queue_bytes: u64,
    /// Time to transmit the bytes waiting.
    pub queue_s: f64,
    /// Drops so far.
    pub drops: u64,
    /// Marks so far.
    pub ce_marks: u64,
}

/// Lateness of departures so far.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LatenessStatus {
    /// Median.
    pub p50_s: f64,
    /// 99th percentile.
    pub p99_s: f64,
    /// The latest.
    pub worst_s: f64,
}

/// Drives an emulation.
pub struct Relay {
    emulation: Emulation,
    devices: Vec<File>,
    /// Closed devices.
    closed: Vec<bool>,
    settings: Settings,
    duration: Option<Duration>,
    clock: Clock,
    captured: Captured,
    longest_pause: Duration,
    /// Time of the last status, and the bytes that each link had sent then.
    renewed: (Time, Vec<u64>),
}

impl Relay {
    /// A relay between these TUN devices, one for each host of the emulation.
    ///
    /// # Errors
    /// A descriptor that cannot be made to return at once.
    pub fn new(
        emulation: Emulation,
        devices: Vec<OwnedFd>,
        duration: Option<Duration>,
        settings: Settings,
    ) -> Result<Self, EmulationError> {
        let devices = devices.into_iter().zip(emulation.hosts()).map(|(device, host)| {
            let own = File::from(device);
            never_wait(&own)
                .map(|()| own)
                .map_err(|error| EmulationError::Device { host: host.name.clone(), error })
        });
        let devices = devices.collect::<Result<Vec<_>, _>>()?;
        let links = emulation.plan().links.len();
        Ok(Self {
            closed: vec![false; devices.len()],
            emulation,
            devices,
            settings,
            duration,
            clock: Clock::start(),
            captured: Captured::default(),
            longest_pause: Duration::ZERO,
            renewed: (Time::ZERO, vec![0; links]),
        })
    }

    /// Relays until `stop` becomes readable, `told_to_stop` is set, or the duration is over. `take`
    /// gets the reports; its error ends the relay.
    ///
    /// # Errors
    /// The system does not allow it to wait; errors of `take`.
    pub fn run(
        mut self,
        stop: OwnedFd,
        told_to_stop: &AtomicBool,
        mut take: impl FnMut(Taken) -> Result<(), EmulationError>,
    ) -> Result<Outcome, EmulationError> {
        let stop = File::from(stop);
        let (fifo, locked, notes) = self.prepare();
        let mut readable = Readable::new(self.devices.iter().chain([&stop]));
        let stop = self.devices.len();
        let end = self.duration.map_or(Time::NEVER, |duration| Time::ZERO + duration);
        let mut buffer = vec![0; LARGEST];
        self.clock = Clock::start();
        let (mut awake_since, mut handed_on) = (Time::ZERO, Time::ZERO);
        while !told_to_stop.load(Ordering::Relaxed) {
            let now = self.clock.now();
            self.longest_pause = self.longest_pause.max(now.since(awake_since));
            awake_since = now;
            if now >= end {
                break;
            }
            let found = self.read(&mut buffer, &mut readable)?;
            self.depart(self.clock.now());
            if now.since(handed_on) >= HANDED_ON {
                handed_on = now;
                self.hand_on(now, &mut take)?;
                readable.wait(StdDuration::ZERO).map_err(EmulationError::Wait)?;
                if readable.is_ready(stop) {
                    break;
                }
            }
            if found {
                continue;
            }
            // A picosecond is shorter than any wait: an event due now causes none.
            let next = self.emulation.next_event().unwrap_or(Time::NEVER).min(end);
            let idle = next.since(self.clock.now()).saturating_sub(self.settings.spin).min(HANDED_ON);
            if !idle.is_zero() {
                readable
                    .wait(StdDuration::from_nanos(idle.picoseconds() / 1_000))
                    .map_err(EmulationError::Wait)?;
                if readable.is_ready(stop) {
                    break;
                }
                awake_since = self.clock.now();
            }
        }
        let now = self.clock.now().min(end);
        self.depart(now);
        self.hand_on(now, &mut take)?;
        drop(locked.1);
        let mut outcome = self.emulation.finish(now);
        let emulation = &mut outcome.report.emulation;
        emulation.longest_pause_s = self.longest_pause.seconds();
        (emulation.fifo, emulation.locked, emulation.notes) = (fifo, locked.0, notes);
        Ok(outcome)
    }

    /// Requests exact timing; reports what the system refuses.
    fn prepare(&self) -> (bool, (bool, Option<LockedMemory>), Vec<String>) {
        let mut notes = Vec::new();
        wake_exactly();
        if !self.settings.realtime {
            return (false, (false, None), notes);
        }
        let fifo = become_realtime();
        if let Err(error) = &fifo {
            notes.push(format!("SCHED_FIFO is not allowed ({error}): other processes may come first"));
        }
        let locked = LockedMemory::lock();
        if let Err(error) = &locked {
            notes.push(format!("memory cannot be locked ({error}): it may be swapped out"));
        }
        (fifo.is_ok(), (locked.is_ok(), locked.ok()), notes)
    }

    /// Reads packets from hosts. True if there may be more.
    fn read(&mut self, buffer: &mut [u8], readable: &mut Readable) -> Result<bool, EmulationError> {
        let mut found = false;
        for host in 0..self.devices.len() {
            if self.closed[host] {
                continue;
            }
            for _ in 0..BURST {
                let length = match self.devices[host].read(buffer) {
                    Ok(0) => {
                        self.close(host, readable);
                        break;
                    }
                    Ok(length) => length,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                    // Its namespace is gone, or it was taken down.
                    Err(_) => {
                        self.close(host, readable);
                        break;
                    }
                };
                found = true;
                let now = self.clock.now();
                // Before departures, whose times are those at which they have been written.
                if self.settings.captured[host] {
                    self.captured.add(host, true, now, &buffer[..length]);
                }
                self.depart(now);
                self.emulation.send(now, host, &buffer[..length]);
            }
        }
        Ok(found)
    }

    fn close(&mut self, host: usize, readable: &mut Readable) {
        self.closed[host] = true;
        readable.forget(host);
    }

    /// Runs everything up to now, and writes arrivals.
    fn depart(&mut self, now: Time) {
        let Self { emulation, devices, clock, captured, settings, .. } = self;
        emulation.advance(now, |Delivery { host, bytes, .. }| {
            // A device that is down refuses; a full one loses the packet, like a host.
            devices[host].write_all(bytes).ok()?;
            let done = clock.now();
            if settings.captured[host] {
                captured.add(host, false, done, bytes);
            }
            Some(done)
        });
    }

    fn hand_on(
        &mut self,
        now: Time,
        take: &mut impl FnMut(Taken) -> Result<(), EmulationError>,
    ) -> Result<(), EmulationError> {
        // A slot idle for long is reused: the earlier connection's records have been handed on.
        let names = self.emulation.take_new_names();
        if !names.is_empty() {
            take(Taken::Names(names))?;
        }
        let packets = self.emulation.take_packets();
        if !packets.is_empty() {
            take(Taken::Packets(packets))?;
        }
        if !self.captured.is_empty() {
            take(Taken::Captured(std::mem::take(&mut self.captured)))?;
        }
        if now.since(self.renewed.0) >= RENEWED {
            take(Taken::Status(self.status(now)))?;
        }
        Ok(())
    }

    fn status(&mut self, now: Time) -> Status {
        let states = self.emulation.link_states();
        let (last, sent) = &self.renewed;
        let seconds = now.since(*last).seconds();
        let names = self.emulation.plan().links.iter().map(|link| link.name.to_string());
        let links = names.zip(states.iter().zip(sent)).map(|(name, (state, before))| LinkStatus {
            name,
            rate_bps: (state.bytes - before) as f64 * 8.0 / seconds,
            queue_packets: state.queue_packets,
            queue_bytes: state.queue_bytes,
            queue_s: match state.rate.bits_per_second() {
                0 => 0.0,
                rate => state.queue_bytes as f64 * 8.0 / rate as f64,
            },
            drops: state.drops,
            ce_marks: state.ce_marks,
        });
        let links = links.collect();
        self.renewed = (now, states.iter().map(|state| state.bytes).collect());
        let (packets, flows) = self.emulation.totals();
        let lateness = self.emulation.lateness();
        Status {
            time_s: now.seconds(),
            packets,
            flows,
            links,
            lateness: LatenessStatus {
                p50_s: lateness.quantile_s(0.5),
                p99_s: lateness.quantile_s(0.99),
                worst_s: lateness.worst().seconds(),
            },
        }
    }
}
