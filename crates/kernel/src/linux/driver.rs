//! The loop that drives connections: events from the ring, answers into the slots.

use std::fs::File;
use std::io::{self, BufWriter};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use selfclock_congestion::failure::Failure;
use selfclock_congestion::{Controller, Selection, Setup};

use super::bpf::MapFd;
use super::device::{Attached, TAP, attach};
use super::found::{Found, PREFIX, find};
use super::latency::Histogram;
use super::load::{LoadError, Map, bridge, create_maps, kernel_types, load, load_types};
use super::object::Object;
use super::options::{Carrier, OptionCounts};
use super::register::Registration;
use super::ring::Ring;
use super::slots::{Control, SLOTS, SlotCounts, Slots, Totals};
use super::sys;
use crate::bridge::{Bridge, Counts, Flow};
use crate::event::KernelEvent;
use crate::log::{Entry, Writer};

/// How the loop waits for events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Poll {
    /// Poll, then sleep this long. After 20 ms without an event, waits to be woken.
    Nap(Duration),
    /// Poll continuously, which occupies a core.
    Busy,
    /// Wake up for every event.
    Woken,
}

/// The algorithm to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Name of the congestion control in the kernel.
    pub name: String,
    /// The algorithm.
    pub selection: Selection,
    /// How to wait for events.
    pub poll: Poll,
    /// Run with real-time priority (SCHED_FIFO).
    pub realtime: bool,
    /// Device of this network namespace that reports each data packet.
    pub sent: Option<String>,
    /// Directory of cgroup v2: connections of its processes carry the algorithm's TCP options.
    pub options: Option<PathBuf>,
    /// File in which events and answers are recorded.
    pub record: Option<PathBuf>,
}

/// Status of one connection.
#[derive(Clone, Copy, Debug)]
pub struct FlowStatus {
    /// Its last event.
    pub last: KernelEvent,
    /// Payload acknowledged since its first event.
    pub acknowledged: u64,
    /// Time of its first event, ns.
    pub began: u64,
    /// Phase of the algorithm.
    pub phase: &'static str,
    /// Counters of the kernel part.
    pub counts: SlotCounts,
}

/// Progress of the session.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// Connections now.
    pub flows: Vec<FlowStatus>,
    /// Sums over all connections.
    pub counts: Counts,
    /// The kernel part's.
    pub totals: Totals,
    /// Kernel counters of ended connections, summed.
    pub ended: SlotCounts,
    /// Counters of TCP options; `None` without.
    pub options: Option<OptionCounts>,
    /// From an event to its answer.
    pub latency: Histogram,
    /// Processor time of the loop, and the share spent on events, ns.
    pub time: (u64, u64),
    /// Algorithms that failed, by flow, with the reason. Reno took over.
    pub failures: Vec<(u64, Failure)>,
    /// Why the record can no longer be written.
    pub record_error: Option<String>,
    /// Why the thread has no real-time priority.
    pub realtime_error: Option<String>,
    /// Whether the loop ended because another process asked it to.
    pub asked_to_stop: bool,
}

/// A congestion control in the kernel whose decisions are made here. Dropping it unregisters the
/// name; its connections continue under Reno.
#[derive(Debug)]
pub struct Session {
    options: Options,
    shared: Shared,
    registration: Mutex<Option<Registration>>,
    tap: Mutex<Option<Attached>>,
    carrier: Mutex<Option<Arc<Carrier>>>,
    writer: Mutex<Option<Record>>,
    stop: AtomicBool,
    status: Mutex<Status>,
    /// Connections left behind by an earlier process.
    pub taken_over: u32,
}

type Record = Writer<BufWriter<File>>;

fn locked<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// State of the loop.
#[derive(Debug)]
struct Shared {
    ring: Ring,
    slots: Slots,
    control: Control,
}

fn failed(step: &'static str) -> impl FnOnce(io::Error) -> LoadError {
    move |error| LoadError::Failed(step, error)
}

/// The maps of a process that died with connections open, or new ones.
fn maps_for(name: &str, object: &Object, types: BorrowedFd<'_>) -> Result<(Vec<Map>, u32), LoadError> {
    // Without CAP_SYS_ADMIN existing maps are invisible: then all are new.
    let mut orphan: Option<Found> = None;
    for found in find().unwrap_or_default() {
        if found.name != name {
            continue;
        }
        if found.is_registered() {
            return Err(LoadError::NameTaken(name.to_owned()));
        }
        if found.slots.used() > orphan.as_ref().map_or(0, |orphan| orphan.slots.used()) {
            orphan = Some(found);
        }
    }
    if let Some(found) = orphan {
        let flows = found.slots.used();
        return Ok((found.maps, flows));
    }
    let maps = create_maps(PREFIX, object, types)?;
    let free = maps.iter().find(|map| map.name == "free_slots").ok_or(LoadError::BadObject)?;
    for slot in (0..SLOTS).rev() {
        free.fd.update(&[], &slot.to_ne_bytes()).map_err(failed("fill the free slots"))?;
    }
    Ok((maps, 0))
}

impl Shared {
    fn new(maps: &[Map]) -> Result<Self, LoadError> {
        let map = |name| maps.iter().find(|map| map.name == name).ok_or(LoadError::BadObject);
        let events: MapFd = map("events")?.fd.try_clone().map_err(failed("share the ring"))?;
        Ok(Self {
            ring: Ring::new(events).map_err(failed("map the ring"))?,
            slots: Slots::new(map("slots")?.fd.as_fd()).map_err(failed("map the slots"))?,
            control: Control::new(map("control")?.fd.as_fd()).map_err(failed("map the control page"))?,
        })
    }
}

impl Session {
    /// Loads the kernel part and registers it. Connections are driven while [`Session::run`] runs.
    pub fn start(options: Options) -> Result<Self, LoadError> {
        // An algorithm that only sets a window leaves the rest to the kernel, without cong_control.
        let only_grows = options.selection.controller(Setup::default()).only_grows();
        let object = Object::read(bridge(only_grows)).ok_or(LoadError::BadObject)?;
        let types = kernel_types()?;
        let own_types = load_types(&object)?;
        let (maps, taken_over) = maps_for(&options.name, &object, own_types.as_fd())?;
        let shared = Shared::new(&maps)?;
        let loaded = load(&object, own_types, &maps, &types)?;
        let tap = options.sent.as_ref().map(|device| attach(TAP, &maps, device)).transpose()?;
        let carrier = options
            .options
            .as_ref()
            .map(|cgroup| Carrier::attach(&options.selection, &maps, cgroup))
            .transpose()?;
        shared.ring.skip();
        let registration = loaded.register(&options.name)?;
        // Only after registration: an unregistered session must not create a record.
        let writer = options.record.as_ref().map(|path| {
            let about = format!("{} on Linux {}", options.name, sys::kernel_release());
            let file = BufWriter::with_capacity(1 << 18, sys::new_file(path)?);
            Writer::new(file, &options.selection, &about)
        });
        let writer = Mutex::new(writer.transpose().map_err(failed("write the record"))?);
        shared.control.claim(&options.name);
        let (registration, status) = (Mutex::new(Some(registration)), Mutex::default());
        let (tap, carrier) = (Mutex::new(tap), Mutex::new(carrier.map(Arc::new)));
        Ok(Self {
            options,
            shared,
            registration,
            tap,
            carrier,
            writer,
            stop: AtomicBool::new(false),
            status,
            taken_over,
        })
    }

    /// Drives the connections from this thread, until [`Session::stop`] or another process ends it.
    pub fn run(&self) {
        sys::exact_naps();
        let realtime = if self.options.realtime { sys::realtime() } else { Ok(()) };
        let mut own = Loop::new(self, locked(&self.writer).take());
        own.own.realtime_error = realtime.err().map(|error| error.to_string());
        own.run(&self.stop);
    }

    /// Progress of the session.
    pub fn status(&self) -> Status {
        locked(&self.status).clone()
    }

    /// Unregisters the name, and lets [`Session::run`] return.
    pub fn stop(&self) {
        *locked(&self.registration) = None;
        *locked(&self.tap) = None;
        *locked(&self.carrier) = None;
        self.stop.store(true, Ordering::Release);
    }
}

type Make<'a> = Box<dyn FnMut(Setup) -> Controller + 'a>;

struct Loop<'a> {
    shared: &'a Shared,
    poll: Poll,
    bridge: Bridge<Controller, Make<'a>>,
    writer: Option<Record>,
    carrier: Option<Arc<Carrier>>,
    status: &'a Mutex<Status>,
    /// Periodic report.
    own: Status,
}

/// Time between two updates of the status, ns.
const PUBLISH: u64 = 200_000_000;
/// Time without events after which the loop waits to be woken, ns.
const QUIET: u64 = 20_000_000;

impl<'a> Loop<'a> {
    fn new(session: &'a Session, writer: Option<Record>) -> Self {
        let Session { options, shared, status, .. } = session;
        let make: Make<'a> = Box::new(|setup| options.selection.controller(setup));
        let bridge = Bridge::new(make).with_partner(options.selection.partner());
        let carrier = locked(&session.carrier).clone();
        Self { shared, poll: options.poll, bridge, writer, carrier, status, own: Status::default() }
    }

    fn run(mut self, stop: &AtomicBool) {
        let control = &self.shared.control;
        control.set_quiet(self.poll != Poll::Woken);
        let (mut last_event, mut published) = (sys::now(), 0);
        while !stop.load(Ordering::Acquire) && !control.stop_asked() {
            let before = sys::thread_time();
            let events = self.drain();
            let now = sys::now();
            if events > 0 {
                last_event = now;
                self.own.time.1 += sys::thread_time() - before;
            }
            if now - published > PUBLISH {
                self.publish();
                published = now;
            }
            if events == 0 {
                self.wait(now - last_event);
            }
        }
        self.own.asked_to_stop = control.stop_asked();
        control.set_quiet(true);
        if let Some(writer) = self.writer.take()
            && let Err(error) = writer.finish()
        {
            self.own.record_error = Some(error.to_string());
        }
        self.publish();
    }

    /// Waits for events, `idle` ns after the last one.
    fn wait(&mut self, idle: u64) {
        let Shared { ring, control, .. } = self.shared;
        match self.poll {
            Poll::Busy => std::hint::spin_loop(),
            Poll::Woken => ring.wait(100),
            Poll::Nap(span) if idle < QUIET => std::thread::sleep(span),
            Poll::Nap(_) => {
                control.set_quiet(false);
                // An event that arrived before the kernel part saw the wake-up flag.
                if self.drain() == 0 {
                    ring.wait(20);
                }
                control.set_quiet(true);
            }
        }
    }

    /// Answers all pending events.
    fn drain(&mut self) -> usize {
        let Self { shared, bridge, writer, carrier, own, .. } = self;
        shared.ring.drain(4096, |event| {
            let (answer, ended) = bridge.on(event);
            if let Some(answer) = &answer {
                shared.slots.answer(event, answer);
                own.latency.add(sys::now().saturating_sub(event.now));
                if answer.flags & crate::bridge::flags::GIVE_UP != 0 {
                    note_failure(&mut own.failures, bridge.flows(), event);
                }
            }
            if let (Some(carrier), Some((key, options))) = (&carrier, bridge.take_outgoing()) {
                // Only a lack of memory stops it; the peer then gets no option.
                let _ = carrier.put(key, &options);
            }
            if let Some(writing) = writer
                && let Err(error) = writing.write(&Entry { event: *event, answer })
            {
                own.record_error = Some(error.to_string());
                *writer = None;
            }
            if ended.is_some() {
                add(&mut own.ended, shared.slots.counts(event.slot));
            }
        })
    }

    fn publish(&mut self) {
        let Self { shared, bridge, carrier, own, .. } = self;
        own.counts = bridge.counts();
        own.totals = shared.control.totals();
        own.options = carrier.as_ref().map(|carrier| carrier.counts());
        own.time.0 = sys::thread_time();
        let status = |flow: &Flow<Controller>| FlowStatus {
            last: *flow.last(),
            acknowledged: flow.acknowledged(),
            began: flow.began(),
            phase: flow.control().snapshot().phase.name(),
            counts: shared.slots.counts(flow.last().slot),
        };
        // If the ring had no room for a flow's end, its slot no longer holds it.
        let alive = |flow: &FlowStatus| flow.counts.flow == flow.last.id;
        own.flows = bridge.flows().map(status).filter(alive).collect();
        locked(self.status).clone_from(own);
    }
}

fn note_failure<'a>(
    failures: &mut Vec<(u64, Failure)>,
    mut flows: impl Iterator<Item = &'a Flow<Controller>>,
    event: &KernelEvent,
) {
    if failures.iter().any(|(id, _)| *id == event.id) {
        return;
    }
    let flow = flows.find(|flow| flow.last().id == event.id);
    if let Some(failure) = flow.and_then(|flow| flow.control().failure()) {
        failures.push((event.id, failure.clone()));
    }
}

fn add(sum: &mut SlotCounts, one: SlotCounts) {
    sum.fallbacks += one.fallbacks;
    sum.fallback_acks += one.fallback_acks;
    sum.lost_events += one.lost_events;
    sum.applied += one.applied;
    sum.torn += one.torn;
    sum.late += one.late;
}
