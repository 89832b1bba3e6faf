//! An emulation driven by the monotonic clock and by TUN devices: one thread, which looks for
//! packets while it is awake, and sleeps until shortly before something is due.

use crate::capture::Captured;
use crate::clock::Clock;
use crate::emulation::{Delivery, Emulation};
use crate::error::EmulationError;
use crate::report::Outcome;
use crate::system::{LockedMemory, Readable, become_realtime, never_wait, share, wake_exactly};
use selfclock_congestion::units::{Duration, Time};
use selfclock_simulator::record::packets::Packets;
use serde::Serialize;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration as StdDuration;

/// Largest packet of IP.
const LARGEST: usize = 65_535;
/// Packets that are read from one device before the next one has its turn.
const BURST: usize = 32;
/// Records are handed on, and the request to stop is looked for, this often.
const HANDED_ON: Duration = Duration::from_milliseconds(10);
/// The status is renewed this often.
const RENEWED: Duration = Duration::from_milliseconds(100);

/// How an emulation is driven.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Ask for SCHED_FIFO and locked memory.
    pub realtime: bool,
    /// Before something is due it looks for packets for so long, and sleeps before that.
    pub spin: Duration,
    /// Capture the packets of these hosts.
    pub captured: Vec<bool>,
}

/// Reports during an emulation, in this order.
pub enum Taken {
    /// Places of connections in the records that follow, and their names.
    Names(Vec<(usize, String)>),
    /// Packet events.
    Packets(Packets),
    /// Packets as they were.
    Captured(Captured),
    /// Progress of an emulation.
    Status(Status),
}

/// Progress of an emulation.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Status {
    /// Time since it began.
    pub time_s: f64,
    /// Packets that came from hosts.
    pub packets: u64,
    /// Connections seen.
    pub flows: usize,
    /// One for each link.
    pub links: Vec<LinkStatus>,
    /// How late packets left.
    pub lateness: LatenessStatus,
}

/// Activity at a link.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LinkStatus {
    /// Its name.
    pub name: String,
    /// Bytes sent since the last status.
    pub rate_bps: f64,
    /// Packets that wait.
    pub queue_packets: u64,
    /// The same, bytes.
    pub queue_bytes: u64,
    /// Time that it takes to send them.
    pub queue_s: f64,
    /// Drops so far.
    pub drops: u64,
    /// Marks so far.
    pub ce_marks: u64,
}

/// How late packets left so far.
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
    /// Devices that are gone.
    closed: Vec<bool>,
    settings: Settings,
    duration: Option<Duration>,
    clock: Clock,
    captured: Captured,
    longest_pause: Duration,
    /// When the status was renewed last, and the bytes that each link had sent then.
    renewed: (Time, Vec<u64>),
}

impl Relay {
    /// A relay between these TUN devices, one for each host of the emulation. The descriptors stay
    /// the caller's.
    ///
    /// # Errors
    /// A descriptor that is not open.
    pub fn new(
        emulation: Emulation,
        devices: &[RawFd],
        duration: Option<Duration>,
        settings: Settings,
    ) -> Result<Self, EmulationError> {
        let devices = devices.iter().zip(emulation.hosts()).map(|(&device, host)| {
            let own = share(device).and_then(|own| never_wait(&own).map(|()| own));
            own.map_err(|error| EmulationError::Device { host: host.name.clone(), error })
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

    /// Relays until there is something to read from `stop`, `told_to_stop` is set, or the duration
    /// is over. `take` gets what is handed on; an error of it ends the relay.
    ///
    /// # Errors
    /// The system does not let it wait; those of `take`.
    pub fn run(
        mut self,
        stop: RawFd,
        told_to_stop: &AtomicBool,
        mut take: impl FnMut(Taken) -> Result<(), EmulationError>,
    ) -> Result<Outcome, EmulationError> {
        let stop = share(stop).map_err(EmulationError::Wait)?;
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
            // A picosecond is less than any wait: what is due now makes it none.
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

    /// Asks the system for exact times; says what it does not allow.
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

    /// Takes in what hosts have sent. True if there may be more.
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
                self.depart(now);
                self.emulation.send(now, host, &buffer[..length]);
                if self.settings.captured[host] {
                    self.captured.add(host, true, now, &buffer[..length]);
                }
            }
        }
        Ok(found)
    }

    fn close(&mut self, host: usize, readable: &mut Readable) {
        self.closed[host] = true;
        readable.forget(host);
    }

    /// Lets everything happen up to now, and writes what has arrived.
    fn depart(&mut self, now: Time) {
        let Self { emulation, devices, clock, captured, settings, .. } = self;
        emulation.advance(now, |Delivery { host, bytes, .. }| {
            // A device that is down refuses; one that is full loses the packet, as a host does.
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
        // A place is taken again when it has been idle for long: what is recorded of the one before
        // has been handed on.
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
