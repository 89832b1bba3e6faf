//! One run on several threads.
//!
//! The network is divided into parts with transit times between them (see
//! [`crate::network::partition`]), and each part is a separate [`Simulation`] on its own thread. A
//! part may run as far as it has all packets that the others can still send it: up to their clocks
//! plus the minimum transit time from there. The order among events at equal times is a property of
//! the network (see [`crate::engine`]), so the result equals that of one thread, to the bit,
//! whichever thread is ahead.

mod exchange;

use super::{Outcome, Progress, Simulation, Stopped, summary};
use crate::network::handover::Handover;
use crate::network::partition::{Lookahead, Partition};
use crate::plan::{Plan, Protocol};
use exchange::Exchange;
use selfclock_congestion::units::{Duration, Time};

/// Events between two checks of the other threads: some 30 µs.
const SLICE: u64 = 256;

/// Maximum number of parts: each pair has a packet list.
const MOST_PARTS: usize = 64;

/// Packet-hops of a part in the shortest lookahead: with fewer, threads wait for one another longer
/// than they compute. With 7500 two threads are 1.5 times as fast as one, with 2500 they are 0.9 or
/// 1.3 times; see docs/performance.md.
const LEAST_HOPS: f64 = 4000.0;

/// Maximum lead of a part over its receivers, in multiples of the longest lookahead: a part without
/// senders has no other limit, and its packets take memory until they are received.
const LEASH: u64 = 4;

/// Idle checks before a part rests, before its thread yields the core, and before it sleeps.
const RESTLESS: u32 = 64;
const SPINS: u32 = 200;
const YIELDS: u32 = 400;
/// Duration of a sleep.
const SLEEP: std::time::Duration = std::time::Duration::from_micros(50);

/// Why a run needs a single thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotDivided {
    /// User-defined algorithms may share state.
    #[error("user-defined algorithms may share state")]
    Custom,
    /// The two ends of a foreign stack share state.
    #[error("the two ends of a real QUIC stack share state")]
    Stacks,
    /// Router mechanisms see several links at once.
    #[error("router mechanisms look at several links at once")]
    Routers,
    /// Short connections are numbered as they come.
    #[error("short connections are numbered as they start")]
    Connections,
    /// Packet records are written in one order.
    #[error("packet records are written in one order")]
    Packets,
    /// All packets meet in one place, or no link has any delay.
    #[error(
        "the network cannot be divided: packets of all flows meet everywhere, or take no time in between"
    )]
    Nothing,
    /// Threads would wait for one another longer than they compute.
    #[error("one thread is quicker with so few packets in the least delay between two parts")]
    Small,
    /// Only one core is available.
    #[error("the machine has one core")]
    OneCore,
}

/// A run in progress on several threads.
#[derive(Debug)]
pub struct Parallel {
    parts: Vec<Simulation>,
    lookahead: Lookahead,
    exchange: Exchange,
}

impl Parallel {
    /// A run of this plan, at time zero, on at most `threads` threads.
    ///
    /// # Errors
    /// If it needs a single thread.
    pub fn new(plan: &Plan, threads: usize) -> Result<Self, NotDivided> {
        Ok(Self::of(plan, divided(plan, threads)?))
    }

    /// The same, on at most as many threads as cores, if that is faster than one.
    ///
    /// # Errors
    /// If it needs a single thread, or is faster there: packets between cores then cost more time
    /// than a second core saves.
    pub fn worthwhile(plan: &Plan, threads: usize) -> Result<Self, NotDivided> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        if cores == 1 {
            return Err(NotDivided::OneCore);
        }
        let hops = plan.expected_packet_hops() / plan.duration.seconds();
        let mut threads = threads.min(cores);
        while threads > 1 {
            let partition = divided(plan, threads)?;
            let of_each = hops * partition.lookahead.least().seconds() / partition.parts.len() as f64;
            if of_each >= LEAST_HOPS {
                return Ok(Self::of(plan, partition));
            }
            threads /= 2;
        }
        Err(NotDivided::Small)
    }

    fn of(plan: &Plan, partition: Partition) -> Self {
        let Partition { parts, lookahead } = partition;
        // The thread that fills a part's memory should allocate it.
        let parts: Vec<Simulation> = std::thread::scope(|scope| {
            let made: Vec<_> =
                parts.into_iter().map(|part| scope.spawn(move || Simulation::part(plan, &part))).collect();
            made.into_iter()
                .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
                .collect()
        });
        let leash = lookahead.longest().times(LEASH);
        let least = (0..parts.len()).map(|part| lookahead.to(part).unwrap_or(leash));
        let exchange = Exchange::new(least.collect());
        Self { parts, lookahead, exchange }
    }

    /// Threads that it runs on.
    pub fn threads(&self) -> usize {
        self.parts.len()
    }

    /// Events that have happened.
    pub fn events(&self) -> u64 {
        self.parts.iter().map(|part| part.events_run).sum()
    }

    /// When the run ends.
    pub fn end(&self) -> Time {
        self.parts[0].end
    }

    /// Runs everything up to a time that is not past.
    ///
    /// # Errors
    /// As [`Simulation::advance`].
    pub fn advance_until(&mut self, time: Time) -> Result<Progress, Stopped> {
        let until = time.min(self.end());
        let Self { parts, lookahead, exchange } = self;
        let (lookahead, exchange) = (&*lookahead, &*exchange);
        exchange.begin();
        let (first, others) = parts.split_at_mut(1);
        std::thread::scope(|scope| {
            let run = |part, simulation| Worker::new(part, simulation, lookahead, exchange).run(until);
            let others = others.iter_mut().enumerate();
            let threads: Vec<_> =
                others.map(|(index, simulation)| scope.spawn(move || run(index + 1, simulation))).collect();
            let mut all = first.iter_mut().try_for_each(|simulation| run(0, simulation));
            for thread in threads {
                let one = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                all = all.and(one);
            }
            all
        })?;
        Ok(if until == self.end() { Progress::Finished } else { Progress::Underway })
    }

    /// Runs to the end and takes the results.
    ///
    /// # Errors
    /// As [`Simulation::advance`].
    pub fn run(mut self) -> Result<Outcome, Stopped> {
        self.advance_until(Time::NEVER)?;
        Ok(self.finish())
    }

    /// Ends the run where it is and takes the results.
    pub fn finish(self) -> Outcome {
        summary::results(self.parts)
    }
}

/// The network of a plan in at most this many parts.
fn divided(plan: &Plan, parts: usize) -> Result<Partition, NotDivided> {
    check(plan)?;
    Partition::new(plan, parts.min(MOST_PARTS)).ok_or(NotDivided::Nothing)
}

/// Fails for runs that need a single thread.
fn check(plan: &Plan) -> Result<(), NotDivided> {
    let has_connections = || plan.flows.iter().any(|flow| matches!(flow.protocol, Protocol::Connections(_)));
    if plan.has_custom_algorithms() {
        Err(NotDivided::Custom)
    } else if plan.has_foreign_stacks() {
        Err(NotDivided::Stacks)
    } else if !plan.routers.is_empty() {
        Err(NotDivided::Routers)
    } else if plan.record.packets {
        Err(NotDivided::Packets)
    } else if has_connections() {
        Err(NotDivided::Connections)
    } else {
        Ok(())
    }
}

/// A running part.
struct Worker<'a> {
    part: usize,
    simulation: &'a mut Simulation,
    exchange: &'a Exchange,
    /// Parts that send here, with their minimum transit times.
    from: Vec<(usize, Duration)>,
    /// Parts that receive from here, and the maximum lead over them.
    to: Vec<usize>,
    leash: Duration,
    /// Packets just received.
    received: Handover,
    /// Nothing more arrives before this, as far as known.
    horizon: Time,
    /// Turns without progress.
    idle: u32,
    rests: bool,
}

/// Result of a turn of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    /// Something has happened.
    Ahead,
    /// Nothing can happen before others advance.
    Waits,
    /// All events up to the requested time are done.
    Done,
}

impl<'a> Worker<'a> {
    fn new(
        part: usize,
        simulation: &'a mut Simulation,
        lookahead: &Lookahead,
        exchange: &'a Exchange,
    ) -> Self {
        let others = (0..exchange.parts()).filter(|&other| other != part);
        let from =
            others.clone().filter_map(|other| Some((other, lookahead.between(other, part)?))).collect();
        let to = others.filter(|&other| lookahead.between(part, other).is_some()).collect();
        let leash = lookahead.longest().times(LEASH);
        let (received, horizon) = (Handover::default(), Time::ZERO);
        Self { part, simulation, exchange, from, to, leash, received, horizon, idle: 0, rests: false }
    }

    /// Runs everything up to a time, in a thread.
    fn run(&mut self, until: Time) -> Result<(), Stopped> {
        let failing = FailsUnlessForgotten(self.exchange);
        while !self.exchange.has_failed() {
            match self.turn(until, SLICE)? {
                Turn::Done => break,
                Turn::Ahead => {}
                Turn::Waits => match self.idle {
                    ..SPINS => std::hint::spin_loop(),
                    SPINS..YIELDS => std::thread::yield_now(),
                    _ => std::thread::sleep(SLEEP),
                },
            }
        }
        std::mem::forget(failing);
        Ok(())
    }

    /// Runs at most `events` of the events that are safe now.
    fn turn(&mut self, until: Time, events: u64) -> Result<Turn, Stopped> {
        if self.rests {
            if !self.has_news(until) {
                self.idle = self.idle.saturating_add(1);
                return Ok(Turn::Waits);
            }
            self.exchange.rise(self.part);
            self.rests = false;
        }
        let turn = self.step(until, events)?;
        match turn {
            Turn::Ahead => self.idle = 0,
            Turn::Done => self.exchange.end(self.part, until),
            Turn::Waits => {
                self.idle = self.idle.saturating_add(1);
                if self.idle >= RESTLESS {
                    self.rests = true;
                    self.exchange.rest(self.part, self.next(), until);
                }
            }
        }
        Ok(turn)
    }

    fn step(&mut self, until: Time, events: u64) -> Result<Turn, Stopped> {
        let run = self.simulation.events_run;
        self.take_in();
        // Packets that arrive at the horizon may precede local events of that time.
        let limit = Time::from_picoseconds(self.horizon.picoseconds().saturating_sub(1)).min(until);
        self.simulation.advance_towards(limit, events)?;
        self.hand_over();
        let clock = self.next().min(self.horizon);
        self.exchange.set_clock(self.part, clock);
        Ok(if clock > until {
            // It may have reached its number of events.
            self.simulation.now = until;
            Turn::Done
        } else if self.simulation.events_run == run {
            Turn::Waits
        } else {
            Turn::Ahead
        })
    }

    /// Time of this part's next event.
    fn next(&self) -> Time {
        self.simulation.events.peek().map_or(Time::NEVER, |event| event.time)
    }

    /// Whether input has arrived, or the next event is safe.
    fn has_news(&self, until: Time) -> bool {
        self.from.iter().any(|&(other, _)| self.exchange.is_posted(other, self.part))
            || self.known_horizon() > self.next().min(until)
    }

    /// The time before which nothing more can arrive, by the others' current clocks, and up to
    /// which this part may run.
    fn known_horizon(&self) -> Time {
        let Self { part, exchange, from, to, leash, .. } = self;
        let floor = exchange.floor(*part);
        let until = from.iter().map(|&(other, lookahead)| exchange.clock(other) + lookahead);
        let until = until.chain(to.iter().map(|&other| exchange.clock(other) + *leash));
        until.min().unwrap_or(Time::NEVER).max(floor)
    }

    /// Receives the others' packets, and updates the horizon.
    fn take_in(&mut self) {
        // The clocks first: packets sent after reading them arrive later.
        self.horizon = self.known_horizon().max(self.horizon);
        let Self { part, simulation, exchange, from, received, .. } = self;
        for &(other, _) in &*from {
            if exchange.receive(other, *part, received) {
                simulation.network.import(&mut simulation.events, received);
            }
        }
    }

    /// Posts outgoing packets.
    fn hand_over(&mut self) {
        let Self { part, simulation, exchange, .. } = self;
        for to in 0..exchange.parts() {
            if let Some(packets) = simulation.network.handover_to(to) {
                exchange.send(*part, to, packets);
            }
        }
    }
}

/// Ends the other threads if this one panics or returns early.
struct FailsUnlessForgotten<'a>(&'a Exchange);

impl Drop for FailsUnlessForgotten<'_> {
    fn drop(&mut self) {
        self.0.fail();
    }
}

#[cfg(test)]
#[path = "../../../tests/common/meeting.rs"]
pub mod meeting;

#[cfg(test)]
mod tests {
    use super::meeting::{plan, scenarios};
    use super::*;
    use proptest::prelude::*;
    use std::cell::Cell;

    /// The outcome when parts take turns, in this order, each for `events` events; and the number
    /// of parts.
    fn in_turn(plan: &Plan, parts: usize, turns: &[(usize, u64)]) -> Result<(usize, Outcome), NotDivided> {
        in_turn_counted(plan, parts, turns, &mut 0)
    }

    /// The same, and counts the turns.
    fn in_turn_counted(
        plan: &Plan,
        parts: usize,
        turns: &[(usize, u64)],
        count: &mut u64,
    ) -> Result<(usize, Outcome), NotDivided> {
        let mut parallel = Parallel::new(plan, parts)?;
        let Parallel { parts, lookahead, exchange } = &mut parallel;
        let (used, end) = (parts.len(), parts[0].end);
        let mut workers: Vec<_> = (0..)
            .zip(parts)
            .map(|(part, simulation)| (Worker::new(part, simulation, lookahead, exchange), false))
            .collect();
        for &(turn, events) in turns.iter().cycle() {
            let (worker, is_done) = &mut workers[turn % used];
            *count += 1;
            // Turns of one event each in lookaheads of 10 µs take some ten million.
            assert!(*count < 1 << 27, "the parts wait for one another: {plan:?}");
            if !*is_done {
                *is_done = worker.turn(end, events).expect("built-in algorithms") == Turn::Done;
            }
            if workers.iter().all(|(_, is_done)| *is_done) {
                break;
            }
        }
        Ok((used, parallel.finish()))
    }

    /// Any part ahead, by any amount. Every part has turns.
    fn turns() -> impl Strategy<Value = Vec<(usize, u64)>> {
        let turn = (0_usize..4, prop_oneof![1_u64..4, 1_u64..300, Just(u64::MAX)]);
        prop::collection::vec(turn, 1..40).prop_map(|mut turns| {
            turns.extend([(0, 100), (1, 100), (2, 100), (3, 100)]);
            turns
        })
    }

    /// Two sources that send every 100 ms on links of 1 µs: parts that approached the next packet
    /// by a lookahead per turn would take 100,000 turns for each, 10 million in all.
    #[test]
    fn parts_with_nothing_to_do_pass_over_the_time() {
        let wire = "rate = \"1 Gbps\"\ndelay = \"1 us\"\n";
        let mut text = String::from(
            "schema = 1\nduration = \"10 s\"\n[network]\ntopology = \"graph\"\nnodes = [\"a\", \"b\", \"r\", \"z\"]\n",
        );
        for (from, to) in [("a", "r"), ("b", "r"), ("r", "z")] {
            text += &format!("[[network.link]]\nfrom = \"{from}\"\nto = \"{to}\"\n{wire}");
        }
        for (from, to) in [("a", "z"), ("b", "z"), ("z", "a")] {
            text += &format!(
                "[[flow]]\nprotocol = \"udp\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
                 traffic = {{ rate = \"80 kbps\", packet = \"1000 B\", arrivals = \"constant\" }}\n"
            );
        }
        let plan = plan(&text);
        let mut turns = 0;
        let (used, outcome) =
            in_turn_counted(&plan, 2, &[(0, 100), (1, 100)], &mut turns).expect("two sources");
        assert_eq!(used, 2);
        let alone = Simulation::new(&plan).run().expect("built-in algorithms");
        assert!(format!("{outcome:?}") == format!("{alone:?}"));
        // 300 packets; a part rests after 64 idle turns.
        assert!(turns < 300 * 4 * u64::from(RESTLESS), "{turns} turns");
    }

    /// The other threads do not wait for one that has failed.
    #[test]
    fn a_thread_that_fails_ends_the_others() {
        let plan = plan(
            "schema = 1\nduration = \"1 s\"\n[network]\ntopology = \"dumbbell\"\n\
             bottleneck = { rate = \"10 Mbps\", delay = \"10 ms\" }\naccess = { rate = \"1 Gbps\", delay = \"1 ms\" }\n\
             [[flow]]\ncount = 3\ncongestion_control = \"reno\"\n",
        );
        let mut parallel = Parallel::new(&plan, 2).expect("three flows");
        let Parallel { parts, lookahead, exchange } = &mut parallel;
        drop(FailsUnlessForgotten(exchange));
        // Alone it would wait forever for the other part.
        Worker::new(0, &mut parts[0], lookahead, exchange).run(Time::NEVER).expect("an end");
        assert!(parts[0].now < parts[0].end);
    }

    #[test]
    fn parts_that_take_turns_are_the_whole() {
        let (divided, in_three) = (Cell::new(0), Cell::new(0));
        let config = ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() };
        let cases = config.cases;
        proptest!(config, |(text in scenarios(), turns in turns())| {
            let plan = plan(&text);
            let alone = format!("{:?}", Simulation::new(&plan).run().expect("built-in algorithms"));
            for parts in [2, 3, 4] {
                let Ok((used, outcome)) = in_turn(&plan, parts, &turns) else { continue };
                prop_assert!((2..=parts).contains(&used));
                divided.set(divided.get() + 1);
                in_three.set(in_three.get() + u32::from(used > 2));
                let found = format!("{outcome:?}");
                let differ = found.bytes().zip(alone.bytes()).position(|(one, other)| one != other);
                let at = differ.unwrap_or(0);
                prop_assert!(
                    found == alone,
                    "in {used} parts: ...{} in place of ...{}\nof\n{text}",
                    &found[at.saturating_sub(120)..(at + 40).min(found.len())],
                    &alone[at.saturating_sub(20)..(at + 40).min(alone.len())]
                );
            }
        });
        // Where one flow has the network for itself there is nothing to divide.
        assert!(divided.get() > cases && in_three.get() > cases / 8, "{divided:?}, {in_three:?} of {cases}");
    }
}
