//! The emulator on Linux: a thread relays, another writes records, and Python's thread waits for
//! both.

use super::{Address, Arguments, EmulationError};
use crate::outcome::Outcome;
use crate::packet_file::{PacketFiles, PacketWriter};
use crate::run::PATIENCE;
use cpu_time::ThreadTime;
use pyo3::prelude::*;
use selfclock_congestion::units::Duration;
use selfclock_emulator::capture::Capture;
use selfclock_emulator::relay::{Relay, Settings as Driving, Status, Taken};
use selfclock_emulator::{Bound, Emulation, EmulationError as Failure, Host, Settings, Told};
use selfclock_simulator::plan::Plan;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::IpAddr;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};

/// Maximum number of waiting parts of records: some five seconds.
const WAITING: usize = 1024;

/// Longest duration and bound, s: a month.
const LONGEST_S: f64 = 30.0 * 86_400.0;

/// An emulation before and while it runs.
pub struct Running {
    ready: Mutex<Option<Ready>>,
    status: Mutex<Status>,
    told: Mutex<Told>,
}

struct Ready {
    relay: Relay,
    plan: Plan,
    files: Option<PacketFiles>,
    /// Index, name and file of each host that is captured.
    captures: Vec<(usize, String, PathBuf)>,
}

fn raised(error: impl ToString) -> PyErr {
    EmulationError::new_err(error.to_string())
}

/// A positive time in seconds.
fn span(name: &str, seconds: f64) -> PyResult<Duration> {
    if seconds > 0.0 && seconds <= LONGEST_S {
        return Ok(Duration::from_seconds(seconds));
    }
    Err(raised(format!("{name}: {seconds} s is out of range; allowed: above 0 s, up to {LONGEST_S} s")))
}

fn address(whole: &str, text: &str) -> PyResult<IpAddr> {
    let problem = |_| {
        raised(format!("hosts: {whole:?} is no IP address; write one such as \"10.0.0.1\" or \"10.0.0.0/8\""))
    };
    text.parse().map_err(problem)
}

fn network(whole: &str, prefix: &str, length: &str) -> PyResult<(IpAddr, u8)> {
    let prefix = address(whole, prefix)?;
    let most = if prefix.is_ipv4() { 32 } else { 128 };
    let length = length.parse().ok().filter(|&length| length <= most);
    length.map(|length| (prefix, length)).ok_or_else(|| {
        raised(format!("hosts: {whole:?}: the prefix has no such length; allowed: 0 to {most} bits"))
    })
}

impl Running {
    pub fn new(plan: &Plan, arguments: Arguments) -> PyResult<Self> {
        let Arguments { hosts, packets, captures, duration_s, realtime, spin_us, flows_per_path, .. } =
            arguments;
        let duration = duration_s.map(|seconds| span("duration_s", seconds)).transpose()?;
        let bound = Bound {
            p99: span("bound_p99_s", arguments.bound_p99_s)?,
            worst: span("bound_worst_s", arguments.bound_worst_s)?,
        };
        let (mut devices, mut named) = (Vec::new(), Vec::new());
        for (name, device, addresses) in hosts {
            let mut host = Host::new(&name, &[]);
            for text in &addresses {
                match text.split_once('/') {
                    None => host.addresses.push(address(text, text)?),
                    Some((prefix, length)) => host.networks.push(network(text, prefix, length)?),
                }
            }
            devices.push(device);
            named.push(host);
        }
        let settings = Settings { flows_per_path, duration, record: packets.is_some(), bound };
        let emulation = Emulation::new(plan, named, settings).map_err(raised)?;
        let captures = captures.into_iter().map(|(name, path)| {
            let place = emulation.hosts().iter().position(|host| host.name == name);
            let place = place.ok_or_else(|| {
                let hosts: Vec<_> = emulation.hosts().iter().map(|host| host.name.as_str()).collect();
                raised(format!("captures: {name:?} is no host; allowed: {}", hosts.join(", ")))
            })?;
            Ok((place, name, path))
        });
        let captures = captures.collect::<PyResult<Vec<_>>>()?;
        let captured =
            (0..emulation.hosts().len()).map(|host| captures.iter().any(|&(place, ..)| place == host));
        let driving =
            Driving { realtime, spin: Duration::from_microseconds(spin_us), captured: captured.collect() };
        let plan = emulation.plan().clone();
        let devices = devices.into_iter().map(duplicate).collect::<PyResult<Vec<_>>>()?;
        let relay = Relay::new(emulation, devices, duration, driving).map_err(raised)?;
        let files =
            packets.map(|(parquet, metadata)| PacketFiles { parquet, metadata, captures: Vec::new() });
        let ready = Ready { relay, plan, files, captures };
        Ok(Self { ready: Mutex::new(Some(ready)), status: Mutex::default(), told: Mutex::default() })
    }

    pub fn tell(
        &self,
        algorithms: Vec<(Address, Address, String)>,
        defaults: Vec<(String, String)>,
        notes: Vec<String>,
    ) -> PyResult<()> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let named = algorithms.into_iter().map(|(own, peer, name)| ([own.into(), peer.into()], name));
        told.algorithms.extend(named);
        told.defaults.extend(defaults);
        told.notes.extend(notes);
        Ok(())
    }

    pub fn status(&self) -> PyResult<String> {
        let status = self.status.lock().unwrap_or_else(PoisonError::into_inner).clone();
        serde_json::to_string(&status).map_err(raised)
    }

    pub fn run(&self, py: Python<'_>, stop: i32) -> PyResult<Outcome> {
        let ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Ready { relay, plan, files, captures } =
            ready.ok_or_else(|| raised("an emulation runs once: make another Emulator"))?;
        let writer = Writer::create(&plan, files.as_ref(), captures)?;
        let stop = duplicate(stop)?;
        let finished = py.detach(|| self.relay(relay, stop, writer));
        let (mut outcome, packets_written, cpu_s) = finished?;
        outcome.add(std::mem::take(&mut *self.told.lock().unwrap_or_else(PoisonError::into_inner)));
        Outcome::emulated(py, outcome, packets_written, cpu_s)
    }

    /// Runs the threads, and polls Python's signals meanwhile. That thread never blocks the
    /// relaying one, which would otherwise wait for Python.
    fn relay(
        &self,
        relay: Relay,
        stop: OwnedFd,
        mut writer: Writer<'_>,
    ) -> PyResult<(selfclock_emulator::Outcome, usize, f64)> {
        let told_to_stop = AtomicBool::new(false);
        let (to_writer, messages) = mpsc::sync_channel::<Taken>(WAITING);
        let (ended, wait) = mpsc::channel::<()>();
        std::thread::scope(|scope| {
            let told_to_stop = &told_to_stop;
            let writing = scope.spawn(move || writer.write(&messages).and_then(|()| writer.finish()));
            let relaying = scope.spawn(move || {
                let (clock, _ended) = (ThreadTime::now(), ended);
                let outcome = relay.run(stop, told_to_stop, |taken| match taken {
                    Taken::Status(status) => {
                        *self.status.lock().unwrap_or_else(PoisonError::into_inner) = status;
                        Ok(())
                    }
                    other => to_writer.try_send(other).map_err(|_| Failure::RecordsPileUp),
                });
                (outcome, clock.elapsed().as_secs_f64())
            });
            let mut interruption = Ok(());
            while wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                if interruption.is_ok() {
                    interruption = Python::attach(|py| py.check_signals());
                    told_to_stop.store(interruption.is_err(), Ordering::Relaxed);
                }
            }
            let panicked = |_| raised("the emulator panicked");
            let (outcome, cpu_s) = relaying.join().map_err(panicked)?;
            // The relay ended because of a full disk.
            let written = writing.join().map_err(panicked)?;
            interruption?;
            let written = written?;
            Ok((outcome.map_err(raised)?, written, cpu_s))
        })
    }
}

/// Destination of records.
struct Writer<'a> {
    packets: Option<PacketWriter<'a>>,
    /// Name of each flow of the plan.
    names: Vec<String>,
    captures: Vec<Capture<BufWriter<File>>>,
}

impl<'a> Writer<'a> {
    fn create(
        plan: &'a Plan,
        files: Option<&PacketFiles>,
        captures: Vec<(usize, String, PathBuf)>,
    ) -> io::Result<Self> {
        let begin = |(host, name, path): (usize, String, PathBuf)| {
            Capture::new(BufWriter::new(File::create(path)?), plan, host, &name)
        };
        Ok(Self {
            packets: files.map(|files| PacketWriter::create(plan, files)).transpose()?,
            names: vec![String::new(); plan.flows.len()],
            captures: captures.into_iter().map(begin).collect::<io::Result<_>>()?,
        })
    }

    fn write(&mut self, messages: &Receiver<Taken>) -> io::Result<()> {
        for message in messages {
            match message {
                Taken::Names(new) => {
                    new.into_iter().for_each(|(slot, name)| self.names[slot] = name);
                    if let Some(packets) = &mut self.packets {
                        packets.rename_flows(self.names.iter().map(String::as_str));
                    }
                }
                Taken::Packets(records) => {
                    if let Some(packets) = &mut self.packets {
                        packets.write(records)?;
                    }
                }
                Taken::Captured(captured) => {
                    self.captures.iter_mut().try_for_each(|capture| capture.add(&captured))?;
                }
                Taken::Status(_) => {}
            }
        }
        Ok(())
    }

    /// Closes the files. Returns the number of packet events in them.
    fn finish(&mut self) -> io::Result<usize> {
        for capture in self.captures.drain(..) {
            capture.into_inner().flush()?;
        }
        self.packets.take().map_or(Ok(0), PacketWriter::finish)
    }
}

/// A duplicate of a descriptor that Python has as a number, and may close at any time.
#[allow(unsafe_code)]
fn duplicate(descriptor: i32) -> PyResult<OwnedFd> {
    if descriptor < 0 {
        return Err(raised(format!("{descriptor} is no descriptor")));
    }
    // SAFETY: borrowed for this call, with the interpreter's lock, under which the caller, who
    // named it, has it open; if it is not, duplicating it is an error.
    Ok(unsafe { BorrowedFd::borrow_raw(descriptor) }.try_clone_to_owned()?)
}
